package change_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// names are the names of the players of a database, by ID.
func names(t *testing.T, d world.Database, where string) []string {
	t.Helper()
	var all []string
	for _, row := range worldtest.Rows(t, d, "SELECT name FROM players "+where+" ORDER BY id") {
		all = append(all, row[0])
	}
	return all
}

func setNames(t *testing.T, d world.Database, old string, fresh ...string) {
	t.Helper()
	for i, name := range fresh {
		worldtest.Exec(t, d, fmt.Sprintf("UPDATE players SET name = '%s' WHERE name = '%s%d'", name, old, i))
	}
}

// renamedTo is what the plan makes of the names of one source.
func renamedTo(p *plan.Plan, source string) map[string]string {
	all := make(map[string]string)
	for _, r := range p.Renames {
		if r.Source == source {
			all[r.Old] = r.New
		}
	}
	return all
}

// New names fit, are unique as the first world compares and are listed, and so that
// the merge with them goes through and can be undone.
func TestNames(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		long := strings.Repeat("x", 31)
		first := worldtest.GameWorld(t, e, "s1", 1, 6, "t")
		two, three := worldtest.GameWorld(t, e, "s2", 2, 6, "two"), worldtest.GameWorld(t, e, "s3", 3, 6, "three")
		setNames(t, first, "t", "Bob", "eve.S2", "eve", long+"1", long+"2", "=1+1")
		setNames(t, two, "two", "bOB", "EVE", long+"1", long+"2", "中中"+strings.Repeat("国", 30), "=1+1")
		setNames(t, three, "three", "BOB", "bob.s2", "中中"+strings.Repeat("国", 30))
		all := []world.Database{first, two, three}
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE mail (id INTEGER PRIMARY KEY, sender VARBINARY(10), sender_name VARCHAR(40))")
		}
		worldtest.Exec(t, two, "INSERT INTO mail SELECT 20, id, name FROM players WHERE name = 'EVE'", "INSERT INTO mail VALUES (21, NULL, 'EVE')",
			"INSERT INTO mail SELECT 22, id, 'former name' FROM players WHERE name = 'EVE'", "INSERT INTO mail SELECT 23, id, name FROM players WHERE name = 'two99'")
		into := e.Fresh(t, "new")
		options := planner.PlanOptions{
			Names:  []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32}},
			Copies: []plan.NameCopy{{Table: "mail", Column: "sender_name", Key: "sender", OfTable: "players", OfColumn: "name"}},
			Check:  rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: worldtest.NamesNothing},
		}
		wrong := options
		wrong.Names = []plan.NamePolicy{{Table: "players", Column: "name", Keep: plan.KeepOlder, By: "nothing", File: "rules.toml", Line: 7}}
		if _, err := planner.NewPlan(t.Context(), into, all, wrong); !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), `rules.toml:7: [[merge.name]]: the first world has no table "players" with the columns "name, nothing"`) {
			t.Errorf("a policy by a column that is missing: %v", err)
		}
		p := worldtest.MustPlan(t, into, all, options)
		of2, of3 := renamedTo(p, "s2"), renamedTo(p, "s3")
		// eve.S2 is taken, and bob.s2 by a player of the third world.
		want2 := map[string]string{"bOB": "bOB.s2.2", "EVE": "EVE.s2.2", long + "1": long[:29] + ".s2", long + "2": long[:27] + ".s2.2", "=1+1": "=1+1.s2"}
		want3 := map[string]string{"BOB": "BOB.s3", "中中" + strings.Repeat("国", 30): "中中" + strings.Repeat("国", 27) + ".s3"}
		if fmt.Sprint(of2) != fmt.Sprint(want2) || fmt.Sprint(of3) != fmt.Sprint(want3) || len(renamedTo(p, "s1")) != 0 {
			t.Errorf("got\n%v\n%v, want\n%v\n%v", of2, of3, want2, want3)
		}
		for _, r := range p.Renames {
			if n := utf8.RuneCountInString(r.New); n > 32 {
				t.Errorf("%q has %d characters", r.New, n)
			}
		}

		worldtest.MustApply(t, p, into, all)
		got := names(t, into, "")
		for _, r := range p.Renames {
			if !slices.Contains(got, r.New) {
				t.Errorf("nobody is called %q", r.New)
			}
		}
		worldtest.Says(t, into, map[string]string{"SELECT id, sender_name FROM mail ORDER BY id": "[[20 EVE.s2.2] [21 EVE] [22 former name]]"})
		noted := worldtest.Rows(t, into, "SELECT source, old_value, new_value FROM "+record.RenamesTable+" ORDER BY n")
		if len(noted) != len(p.Renames) || noted[0][0] != p.Renames[0].Source || noted[0][2] != p.Renames[0].New {
			t.Errorf("noted: %v", noted)
		}
		worldtest.Sound(t, p, into, all)

		// A record that was changed is found.
		for _, c := range []struct{ do, back, want string }{
			{"UPDATE " + record.RenamesTable + " SET new_value = 'x' WHERE n = 0", "UPDATE " + record.RenamesTable + " SET new_value = '" + p.Renames[0].New + "' WHERE n = 0", `became "x" from`},
			{"UPDATE " + record.RenamesTable + " SET world = 'x' WHERE n = 0", "UPDATE " + record.RenamesTable + " SET world = '" + p.Renames[0].World + "' WHERE n = 0", "row 0 says"},
			{"UPDATE " + record.RenamesTable + " SET n = 900 WHERE n = 1", "UPDATE " + record.RenamesTable + " SET n = 1 WHERE n = 900", "row 900 is not of the plan"},
			{"DELETE FROM " + record.RenamesTable + " WHERE n = 1", "", fmt.Sprintf("1 of %d are missing", len(p.Renames))},
			{"DROP TABLE " + record.RenamesTable, "", fmt.Sprintf("%d of %[1]d are missing", len(p.Renames))},
		} {
			if e.Name != "sqlite" {
				break // all engines read the record alike
			}
			worldtest.Exec(t, into, c.do)
			proof := worldtest.Verified(t, p, into, all)
			if proof.Verdict != verdict.Fail || !slices.ContainsFunc(proof.Findings, func(f plan.Refusal) bool { return f.Table == record.RenamesTable && strings.Contains(f.Reason, c.want) }) {
				t.Errorf("%s: %s, want %q: %v", c.do, proof.Verdict, c.want, proof.Findings)
			}
			if c.back != "" {
				worldtest.Exec(t, into, c.back)
			}
		}

		if key := world.KeyText(p.Renames[0].Key); len(key) != 20 {
			t.Errorf("the key of a player is %q", key)
		}

		worldtest.MustDrop(t, p, into, all)
		worldtest.Dropped(t, into)
	})
}

// Whose name stays is for the policy to say, and where two are alike for the
// order of the databases.
func TestNamesKeep(t *testing.T) {
	e := worldtest.OnSQLite(t)
	first, two := worldtest.GameWorld(t, e, "s1", 1, 2, "same"), worldtest.GameWorld(t, e, "s2", 2, 2, "Same")
	worldtest.Exec(t, first, "UPDATE players SET gold = 5", "UPDATE players SET level = 3 WHERE name = 'same0'")
	worldtest.Exec(t, two, "UPDATE players SET gold = 5 WHERE name = 'Same0'", "UPDATE players SET gold = 4 WHERE name = 'Same1'", "UPDATE players SET level = 2")
	for _, c := range []struct {
		keep   plan.Keep
		by     string
		s1, s2 string
	}{
		{plan.KeepFirst, "", "map[]", "map[Same0:Same0.s2 Same1:Same1.s2]"},
		{plan.KeepOlder, "gold", "map[same1:same1.s1]", "map[Same0:Same0.s2]"},
		{plan.KeepActive, "gold", "map[]", "map[Same0:Same0.s2 Same1:Same1.s2]"},
		{plan.KeepActive, "level", "map[same1:same1.s1]", "map[Same0:Same0.s2]"},
	} {
		p := worldtest.MustPlan(t, e.Fresh(t, "new"), []world.Database{first, two}, planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: c.keep, By: c.by}}})
		if s1, s2 := fmt.Sprint(renamedTo(p, "s1")), fmt.Sprint(renamedTo(p, "s2")); s1 != c.s1 || s2 != c.s2 {
			t.Errorf("%s by %s: %s, %s, want %s, %s", c.keep, c.by, s1, s2, c.s1, c.s2)
		}
	}

	// Without a policy it is a refusal, and so is a template that is too long, or of which all
	// values are taken. Then no rename is listed: none has its new value.
	for attempt := 1; attempt <= 50; attempt++ {
		worldtest.Exec(t, first, fmt.Sprintf("INSERT INTO players (id, account, name, level, gold, created_at, updated_at) "+
			"SELECT x'000000000100000100%02x', account, '%s', 1, 1, created_at, updated_at FROM players LIMIT 1", attempt,
			strings.TrimSuffix(fmt.Sprintf("x-SAME1.%d", attempt), ".1")))
	}
	for _, c := range []struct {
		names []plan.NamePolicy
		want  string
	}{
		{nil, verdict.CodeUniqueCollision},
		{[]plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 3}}, "leaves no room"},
		{[]plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Template: "x-{name}"}}, "no free value"},
	} {
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), []world.Database{first, two}, planner.PlanOptions{Names: c.names})
		if err != nil || len(p.Refusals) == 0 || !strings.Contains(fmt.Sprint(p.Refusals), c.want) {
			t.Errorf("%v: %v, %v", c.names, p, err)
		}
		if len(p.Renames) > 0 {
			t.Errorf("%v: a refused plan lists %v", c.names, p.Renames)
		}
	}
	for _, n := range []plan.NamePolicy{{Table: "nobody", Column: "name"}, {Table: "players", Column: "nome"}, {Table: "players", Column: "name", Keep: "best", By: "gold"},
		{Table: "players", Column: "name", Keep: plan.KeepOlder}, {Table: "players", Column: "name", MaxLength: -1},
		{Table: "players", Column: "name", MaxLength: 32, Template: "same"}, {Table: "players", Column: "name", MaxLength: 32, Template: "{name}.{n}"}} {
		if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), []world.Database{first, two}, planner.PlanOptions{Names: []plan.NamePolicy{n}}); !errors.Is(err, rules.ErrOptions) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}

// A column that copies names along with a key that can name no row is an error.
func TestCopyKeyThatCannotMatch(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "a")}
	for _, d := range all {
		worldtest.Exec(t, d, "ALTER TABLE items ADD COLUMN owner_name VARCHAR(32)")
	}
	plan := func(key string) error {
		_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{
			Names:  []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32}},
			Copies: []plan.NameCopy{{Table: "items", Column: "owner_name", Key: key, OfTable: "players", OfColumn: "name"}},
		})
		return err
	}
	if err := plan("owner_id"); err != nil {
		t.Error(err)
	}
	if err := plan("template"); !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), "can never refer to a row of players, whose key id is") {
		t.Errorf("got %v", err)
	}
}

// As many names are taken twice as a world has, in a column without an index.
// To compare each with all takes minutes.
func TestManyNames(t *testing.T) {
	const n = 12_000
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
		for i, d := range all {
			collation := "NOCASE"
			if e.Name != "sqlite" {
				collation = "utf8mb4_general_ci"
			}
			var rows []string
			for k := range n {
				rows = append(rows, fmt.Sprintf("(%d, 'name%d')", i*n+k, k))
			}
			worldtest.Exec(t, d, "CREATE TABLE characters (id INTEGER PRIMARY KEY, name VARCHAR(40) COLLATE "+collation+")",
				"INSERT INTO characters VALUES "+strings.Join(rows, ", "))
		}
		p, _ := worldtest.PlanOf(t, e, all, planner.PlanOptions{
			Names: []plan.NamePolicy{{Table: "characters", Column: "name", Template: "{name}.{source}"}},
			Check: rules.Options{
				Uniques: []rules.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
				Allow:   []string{verdict.CodeAutoIncrement},
			},
		})
		if len(p.Renames) != n {
			t.Errorf("%d renames, want %d", len(p.Renames), n)
		}
	})
}

// Names may be bytes: what is the same then is told byte by byte, and a new name fits into the bytes of the column.
// What a new name cannot be made for is refused, with the reason.
func TestNamesInBytes(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		types := map[string]string{"VARBINARY(24)": "", "TINYBLOB": "", "BINARY(24)": "pads names with zero bytes"}
		if e.Name == "sqlite" {
			types = map[string]string{"VARBINARY(24)": "", "BINARY(24)": "does not say how many characters it holds: set max", "BLOB": ""}
		}
		bytes, long := "BINARY", strings.Repeat("国", 8)
		if e.Name == "sqlite" {
			bytes = "BLOB"
		}
		for kind, refused := range types {
			for _, most := range []int{0, 24} {
				if most > 0 && e.Name != "sqlite" {
					continue // the type of the column says it
				}
				t.Run(fmt.Sprint(kind, " max ", most), func(t *testing.T) {
					refused := refused
					if e.Name == "sqlite" && most > 0 {
						refused = ""
					}
					all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
					for i, d := range all {
						unique := "name"
						if kind == "TINYBLOB" { // of which the index covers all, which the check does not say
							unique = "name(255)"
						}
						worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER PRIMARY KEY, name "+kind+" NOT NULL CHECK (name <> 'Aria.s2.2'))", "CREATE UNIQUE INDEX names ON pl ("+unique+")",
							"CREATE TABLE mail (id INTEGER PRIMARY KEY, receiver "+kind+" NOT NULL)",
							fmt.Sprintf("INSERT INTO pl VALUES (%d0, CAST('Aria' AS %s)), (%[1]d1, CAST('%[3]s' AS %[2]s))", i+1, bytes, long),
							fmt.Sprintf("INSERT INTO mail VALUES (%d0, CAST('Aria' AS %s)), (%[1]d1, CAST('Bea' AS %[2]s))", i+1, bytes))
					}
					worldtest.Exec(t, all[1], "INSERT INTO pl VALUES (22, CAST('aria' AS "+bytes+")), (23, CAST('Aria.s1' AS "+bytes+"))")
					options := planner.PlanOptions{
						Names: []plan.NamePolicy{{Table: "pl", Column: "name", MaxLength: most, Template: "{name}.{source}"}},
						Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
							Uniques: []rules.DeclaredUnique{{Table: "pl", Columns: []string{"name"}}},
							Rules:   append(slices.Clone(worldtest.NamesNothing), rules.Declarations{References: []rules.DeclaredReference{{At: []string{"mail.receiver"}, To: []string{"pl.name"}}}})},
					}
					if kind == "TINYBLOB" {
						options.Check.Allow = append(options.Check.Allow, verdict.CodeUniqueCollision)
					}
					into := e.Fresh(t, "new")
					p := worldtest.Planned(t, into, all, options)
					if refused != "" {
						if !strings.Contains(fmt.Sprint(p.Refusals), refused) {
							t.Errorf("refused for %v, want %q", p.Refusals, refused)
						}
						return
					}
					if len(p.Refusals) > 0 {
						t.Fatal(p.Refusals)
					}
					worldtest.MustApply(t, p, into, all)
					worldtest.Sound(t, p, into, all)
					cut := strings.Repeat("国", 7) + ".s2" // 24 bytes
					if kind != "VARBINARY(24)" {
						cut = long + ".s2"
					}
					want := fmt.Sprintf("[[10 Aria] [11 %s] [20 Aria.s2] [21 %s] [22 aria] [23 Aria.s1]]", long, cut)
					worldtest.Says(t, into, map[string]string{"SELECT id, name FROM pl ORDER BY id": want, "SELECT id, receiver FROM mail ORDER BY id": "[[10 Aria] [11 Bea] [20 Aria.s2] [21 Bea]]"})
					for i, d := range all {
						worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO pl VALUES (%d9, x'FF01')", i+1))
					}
					worldtest.Refuses(t, e.Fresh(t, "new"), all, options, `a row of s2 has the name "\xff\x01", which is not UTF-8`)
				})
			}
		}
	})
}
