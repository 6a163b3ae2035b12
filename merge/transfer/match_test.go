package transfer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// login is an account: its number, and its name as it is written there.
type login struct {
	id   int
	name string
}

// loginWorld is a world with accounts, of which some are those of other worlds, too, and with
// rows of all kinds that name them.
func loginWorld(t testing.TB, e engine, name string, logins ...login) Database {
	t.Helper()
	d := e.fresh(t, name)
	auto, fold := "INTEGER PRIMARY KEY AUTOINCREMENT", "COLLATE NOCASE"
	if e.name != "sqlite" {
		auto, fold = "INT UNSIGNED AUTO_INCREMENT PRIMARY KEY", "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
	}
	exec(t, d,
		"CREATE TABLE accounts (id "+auto+", name VARCHAR(40) "+fold+", email VARCHAR(40), gold INT NOT NULL)",
		"CREATE TABLE characters (guid "+auto+", account INT NOT NULL, name VARCHAR(40) NOT NULL UNIQUE)",
		"CREATE TABLE bans (account INT NOT NULL, since INT NOT NULL, why VARCHAR(40) NOT NULL, PRIMARY KEY (account, since))",
		"CREATE TABLE settings (account INT NOT NULL PRIMARY KEY, theme VARCHAR(40) NOT NULL)",
		"CREATE TABLE log (account INT NOT NULL, what VARCHAR(40) NOT NULL)",
		"CREATE TABLE clubs (id "+auto+", members VARCHAR(200) NOT NULL)",
	)
	for i, l := range logins {
		quoted := "'" + l.name + "'"
		if l.name == "NULL" {
			quoted = "NULL"
		}
		exec(t, d, fmt.Sprintf("INSERT INTO accounts VALUES (%d, %s, '%s-%d@x', %d)", l.id, quoted, name, l.id, 10*i),
			fmt.Sprintf("INSERT INTO characters VALUES (%d, %d, 'c-%s-%d')", i+1, l.id, name, l.id),
			fmt.Sprintf("INSERT INTO bans VALUES (%d, %d, 'b-%s-%d')", l.id, number(t, d, "SELECT COUNT(*) FROM bans")+int64(100*len(name)+int(name[1])*1000), name, l.id),
			fmt.Sprintf("INSERT INTO log VALUES (%d, 'l-%s'), (%[1]d, 'l-%s')", l.id, name, name))
		if i == 0 {
			exec(t, d, fmt.Sprintf("INSERT INTO clubs VALUES (1, '%d %d')", l.id, logins[len(logins)-1].id),
				fmt.Sprintf("INSERT INTO settings VALUES (%d, 'dark-%s')", l.id, name))
		}
	}
	exec(t, d, fmt.Sprintf("INSERT INTO characters VALUES (90, 777, 'gone-%s')", name), "INSERT INTO log VALUES (778, 'gone'), (0, 'nobody')")
	return d
}

// loginRules match accounts by their names.
func loginRules(tables ...merge.TablePolicy) merge.Options {
	return merge.Options{
		Rekey: &merge.Rekey{Auto: true, Spaces: []merge.Space{{Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}}, {Keys: []string{"characters.guid"}}, {Keys: []string{"clubs.id"}}}},
		Rules: []merge.Declarations{{
			Plain: []string{"accounts.gold", "accounts.email", "bans.why", "*.name"}, Natural: []string{"bans.since"},
			References: []merge.DeclaredReference{
				{At: []string{"characters.account", "bans.account", "settings.account"}, To: []string{"accounts.id"}},
				{At: []string{"log.account"}, To: []string{"accounts.id"}, None: []string{"0"}},
				{At: []string{"clubs.members"}, To: []string{"accounts.id"}, Format: "list sep=' ' every"},
			},
		}},
		Tables: tables,
	}
}

var themes = merge.TablePolicy{Tables: []string{"settings"}, Policy: merge.PolicyCombine, Columns: map[string]string{"theme": "target"}}

// byName is what a world is, said without a number of an account: by their names.
func byName(t testing.TB, d Database) (all []string) {
	t.Helper()
	db := pool(t, d)
	defer db.Close()
	for _, query := range []string{
		"SELECT 'account', LOWER(name), id * 0 FROM accounts WHERE name IS NOT NULL AND name <> ''",
		"SELECT c.name, LOWER(a.name) FROM characters AS c LEFT JOIN accounts AS a ON a.id = c.account",
		"SELECT b.why, LOWER(a.name) FROM bans AS b LEFT JOIN accounts AS a ON a.id = b.account",
		"SELECT l.what, LOWER(a.name), l.account = 0 FROM log AS l LEFT JOIN accounts AS a ON a.id = l.account",
	} {
		for _, row := range read(t, db, query) {
			all = append(all, fmt.Sprint(row))
		}
	}
	slices.Sort(all)
	return all
}

// worldsTogether are the rows of several worlds, of which each account is there once.
func worldsTogether(worlds ...[]string) (all []string) {
	for _, rows := range worlds {
		for _, row := range rows {
			if !strings.HasPrefix(row, "[account ") || !slices.Contains(all, row) {
				all = append(all, row)
			}
		}
	}
	slices.Sort(all)
	return all
}

// threeLogins are worlds with the same people: bob is everywhere, in other letters and with
// other numbers, one of which is another's in the target; eve is in the two sources.
func threeLogins(t testing.TB, e engine) []Database {
	return []Database{
		loginWorld(t, e, "s1", login{5, "alice"}, login{17, "bob"}, login{18, ""}, login{19, "NULL"}),
		loginWorld(t, e, "s2", login{5, "BOB"}, login{9, "eve"}, login{17, "carl"}, login{18, ""}, login{19, "NULL"}),
		loginWorld(t, e, "s3", login{1, "Eve"}, login{2, "bob"}, login{5, "dora"}, login{17, "Alice"}),
	}
}

func pairsOf(t testing.TB, p *Plan, source string) string {
	t.Helper()
	text, err := p.Rekey.Matched("accounts.id", source).MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Accounts of one name become one, all that names them follows, everything else is shifted, and
// an undo leaves what was there before.
func TestMatch(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := threeLogins(t, e)
		target, sources := all[0], all[1:]
		before, want := dump(t, target), worldsTogether(byName(t, all[0]), byName(t, all[1]), byName(t, all[2]))
		p := mustPlan(t, target, sources, PlanOptions{Check: loginRules(themes)})
		d2, d3 := p.Rekey.Offset("accounts.id", "s2"), p.Rekey.Offset("accounts.id", "s3")
		if a, b := pairsOf(t, p, "s2"), pairsOf(t, p, "s3"); a != "5:17" || b != fmt.Sprintf("1:%d 2:17 17:5", 9+d2) {
			t.Fatalf("s2 %q, s3 %q", a, b)
		}
		if c := p.table("accounts").Combine; c == nil || !c.Matched || c.Combined != 4 || c.Changed != 2 || c.Copied != 5 || c.Keys != 3 {
			t.Fatalf("%+v", c)
		}
		if _, err := Apply(t.Context(), p, target, sources, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, byName(t, target)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		db := pool(t, target)
		defer db.Close()
		for query, want := range map[string]string{
			"SELECT id, name, email FROM accounts WHERE id IN (5, 17) ORDER BY id":     "[[5 alice s1-5@x] [17 bob s1-17@x]]",
			fmt.Sprintf("SELECT name, email FROM accounts WHERE id = %d", 9+d2):         "[[eve s2-9@x]]",
			fmt.Sprintf("SELECT account FROM characters WHERE name = 'gone-s3'"):        fmt.Sprintf("[[%d]]", 777+d3),
			"SELECT members FROM clubs ORDER BY id":                                     fmt.Sprintf("[[5 19] [17 %d] [%d 5]]", 19+d2, 9+d2),
			"SELECT account, theme FROM settings ORDER BY account":                      fmt.Sprintf("[[5 dark-s1] [17 dark-s2] [%d dark-s3]]", 9+d2),
			"SELECT source, old_key, new_key, key_here FROM mergesafe_matches ORDER BY source, old_key": fmt.Sprintf("[[s2 5 17 17] [s3 1 %d %[1]d] [s3 2 17 17] [s3 17 5 5]]", 9+d2),
			"SELECT source, matched, key_count FROM mergesafe_moved WHERE table_name = 'accounts' ORDER BY source": "[[s2 1 5] [s3 3 4]]",
		} {
			if got := fmt.Sprint(read(t, db, query)); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		proof := verified(t, p, target, sources)
		if proof.Verdict != merge.Pass || proof.Keys[0].Matched != 4 || proof.Keys[1].Matched != 4 {
			t.Fatalf("%s: %+v\n%+v\n%+v", proof.Verdict, proof.Keys, proof.Combines, proof.Findings)
		}
		for ask, want := range map[int]string{17: "s2 5 true, s3 2 true", 5: "s3 17 true", int(9 + d2): "s2 9 false, s3 1 true", int(17 + d2): "s2 17 false", int(5 + d2): "", int(5 + d3): "s3 5 false"} {
			if got := origins(t, target, ask); got != want {
				t.Errorf("whois %d: %q, want %q", ask, got, want)
			}
		}
		for ask, want := range map[string]int{"s2 5": 17, "s2 17": 17 + int(d2), "s3 17": 5, "s3 1": 9 + int(d2)} {
			source, key, _ := strings.Cut(ask, " ")
			n, _ := rekey.ParseInteger([]byte(key))
			way, err := Whereis(t.Context(), target, source, "accounts", n)
			if err != nil || len(way) != 1 || way[0].New.String() != fmt.Sprint(want) {
				t.Errorf("%s: %v %v, want %d", ask, way, err, want)
			}
		}
		exec(t, target, "UPDATE accounts SET gold = 999 WHERE id = 17") // bob plays on, and his row stays
		if _, err := Undo(t.Context(), p, target, sources, UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		exec(t, target, "UPDATE accounts SET gold = 10 WHERE id = 17")
		if diff := cmp.Diff(before, dump(t, target)); diff != "" {
			t.Errorf("after the undo (-want +got):\n%s", diff)
		}
	})
}

// origins are the sources and keys of a key of an account, in their order.
func origins(t testing.TB, d Database, key int) string {
	t.Helper()
	way, err := Whois(t.Context(), d, "accounts", rekey.Signed(int64(key)))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, o := range way {
		all = append(all, fmt.Sprintf("%s %s %t", o.Source, o.Old, o.Matched))
	}
	return strings.Join(all, ", ")
}

var _ = errors.Is
