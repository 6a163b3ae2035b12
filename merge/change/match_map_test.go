package change_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/merge/change"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// authGame makes two databases of a world: one with its accounts, and one with what they have.
func authGame(t testing.TB, e worldtest.Engine, name string, logins ...worldtest.Login) (auth, game world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY"
	}
	auth, game = e.Fresh(t, name), e.Fresh(t, name+"-chars")
	game.Name = name
	worldtest.Exec(t, auth, "CREATE TABLE accounts (id "+auto+", name VARCHAR(40) NOT NULL UNIQUE)")
	worldtest.Exec(t, game, "CREATE TABLE characters (guid "+auto+", account INT NOT NULL, title VARCHAR(40) NOT NULL)",
		"CREATE TABLE settings (account INT NOT NULL PRIMARY KEY, theme VARCHAR(40) NOT NULL)")
	for i, l := range logins {
		worldtest.Exec(t, auth, fmt.Sprintf("INSERT INTO accounts VALUES (%d, '%s')", l.ID, l.Name))
		worldtest.Exec(t, game, fmt.Sprintf("INSERT INTO characters VALUES (%d, %d, '%s of %s')", i+1, l.ID, l.Name, name), fmt.Sprintf("INSERT INTO settings VALUES (%d, '%s of %s')", l.ID, l.Name, name))
	}
	worldtest.Exec(t, game, fmt.Sprintf("INSERT INTO characters VALUES (50, 99, 'gone of %s')", name))
	return auth, game
}

// A space takes its map from the plan of another merge: the characters of a world follow their
// accounts, which are in another database.
func TestMapFromPlan(t *testing.T) {
	e := worldtest.OnSQLite(t)
	a1, c1 := authGame(t, e, "s1", worldtest.Login{ID: 1, Name: "ann"}, worldtest.Login{ID: 2, Name: "bob"})
	a2, c2 := authGame(t, e, "s2", worldtest.Login{ID: 1, Name: "bob"}, worldtest.Login{ID: 2, Name: "carl"})
	auth, _ := worldtest.PlanOf(t, e, []world.Database{a1, a2}, planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}}}}, Rules: []rules.Declarations{{Plain: []string{"accounts.name"}}}}})
	d := auth.Rekey.Offset("accounts.id", "s2")
	file := filepath.Join(t.TempDir(), "auth-plan.json")
	var text bytes.Buffer
	if err := auth.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := change.MapFromPlan(file, "chars.id"); err == nil || !strings.Contains(err.Error(), `no space of that plan is named "chars.id" or has such a key; it has accounts.id`) {
		t.Error(err)
	}
	from, err := change.MapFromPlan(file, "accounts.id")
	if err != nil || from.Offsets["s2"] != d || from.Matched["s2"].Len() != 1 || len(from.Digest) != 64 {
		t.Fatalf("%+v %v", from, err)
	}
	options := rules.Options{
		Rekey: &rules.Rekey{Spaces: []rules.Space{{Name: "accounts.id", Map: from}, {Keys: []string{"characters.guid"}}}},
		Rules: []rules.Declarations{{Plain: []string{"*.title", "*.theme"}, References: []rules.DeclaredReference{{At: []string{"characters.account", "settings.account"}, To: []string{"space:accounts.id"}}}}},
	}
	worlds, into := []world.Database{c1, c2}, e.Fresh(t, "new")
	if p, err := planner.NewPlan(t.Context(), into, worlds, planner.PlanOptions{Check: options}); err != nil || !strings.Contains(fmt.Sprint(p.Refusals), `table "settings": key-collision: account: 1 key`) {
		t.Fatalf("%v %v", p, err)
	}
	options.Tables = []rules.TablePolicy{worldtest.Themes}
	other := c2
	other.Name = "s9"
	worldtest.NoPlan(t, into, []world.Database{c1, other}, planner.PlanOptions{Check: options}, `has no world named "s9": both merges need the same worlds with the same names`)
	p := worldtest.MustPlan(t, into, worlds, planner.PlanOptions{Check: options})
	if got := p.Rekey.Space("accounts.id").From; got == nil || got.Digest != from.Digest || got.File != file {
		t.Errorf("%+v", got)
	}
	worldtest.MustApply(t, p, into, worlds)
	worldtest.Says(t, into, map[string]string{
		"SELECT account, title FROM characters ORDER BY guid":  fmt.Sprintf("[[1 ann of s1] [2 bob of s1] [99 gone of s1] [2 bob of s2] [%d carl of s2] [%d gone of s2]]", 2+d, 99+d),
		"SELECT account, theme FROM settings ORDER BY account": fmt.Sprintf("[[1 ann of s1] [2 bob of s1] [%d carl of s2]]", 2+d),
		"SELECT col, old_key, key_here FROM mergesafe_matches": "[[accounts.id 1 2]]",
	})
	if proof := worldtest.Verified(t, p, into, worlds); proof.Verdict != verdict.Pass || proof.Keys[0].Matched != 1 {
		t.Errorf("%s %+v %+v", proof.Verdict, proof.Keys, proof.Findings)
	}
	worldtest.MustDrop(t, p, into, worlds)
	worldtest.Dropped(t, into)
}
