package check_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/propose"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Two worlds have a Bob, and the operator renames one of them by hand, but not in the
// letters: after the merge these would be for the other Bob.
func TestColumnsThatRepeatNames(t *testing.T) {
	players := "CREATE TABLE @.players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)"
	letters := "CREATE TABLE @.letters (id INTEGER NOT NULL PRIMARY KEY, receiver_name VARCHAR(20), body TEXT)"
	both := []string{players, letters}
	// The second world's letter 602 is for a Bob of its own, who is Bob2 now.
	story := [][]string{
		{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Bob','Hello Bob'),(502,'Ann',''),(503,NULL,NULL)"},
		{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'Cid','Bob sends this'),(602,'Bob','Hello Bob'),(603,'',''),(604,'0','')"},
	}
	declared := func(d rules.Declarations) rules.Options { return rules.Options{Rules: []rules.Declarations{d}} }
	open := map[string]int64{"letters.receiver_name": 1}
	none := map[string]int64{}
	examples := []example{
		{name: "renamed by hand", tables: both, rows: story, want: verdict.NotVerified, open: open},
		{name: "and the letters, too", tables: both, want: verdict.Pass, open: none, rows: [][]string{story[0],
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'Cid','Bob sends this'),(602,'Bob2','Hello Bob')"}}},
		{name: "the name is declared unique", rows: story, want: verdict.NotVerified, open: open,
			tables: []string{strings.Replace(players, " UNIQUE", "", 1), letters}, opts: rules.Options{Uniques: []rules.DeclaredUnique{{Table: "players", Columns: []string{"name"}}}}},
		{name: "not unique", rows: story, want: verdict.Pass, open: none, tables: []string{strings.Replace(players, " UNIQUE", "", 1), letters}},
		{name: "unique in part", sqlite: true, rows: story, want: verdict.NotVerified, open: map[string]int64{"letters.receiver_name": 1},
			opts:   rules.Options{Allow: []string{verdict.CodeUniqueCollision}},
			tables: []string{strings.Replace(players, " UNIQUE", "", 1), letters, "CREATE UNIQUE INDEX @.alive ON players (name) WHERE id > 0"}},
		{name: "a name of its own world", tables: both, want: verdict.Pass, open: none, rows: [][]string{story[0],
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'Cid',''),(602,'Dan',''),(603,'Dan','')"}}}, // a Dan who is gone
		{name: "half of it", tables: both, want: verdict.Pass, open: none, rows: [][]string{
			{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Bob',''),(502,'late','')"},
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'Cid',''),(602,'Bob','')"}}},
		{name: "more than half of it, in the other world", tables: both, want: verdict.NotVerified, open: open, rows: [][]string{
			{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Bob',''),(502,'late',''),(503,'Ann','')"},
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'old',''),(602,'Bob','')"}}},
		{name: "the names collide", tables: both, want: verdict.Fail, open: none, rows: [][]string{story[0],
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob')", "INSERT INTO @.letters VALUES (601,'Cid',''),(602,'Bob','')"}}},
		{name: "a column of names that is repeated by another", want: verdict.NotVerified, open: map[string]int64{"ranks.who": 1},
			tables: []string{players, "CREATE TABLE @.ranks (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(20) NOT NULL UNIQUE)"}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob'),(3,'Eve')", "INSERT INTO @.ranks VALUES (501,'Bob'),(502,'Ann')"},
				{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2'),(103,'Flo')", "INSERT INTO @.ranks VALUES (601,'Cid'),(602,'Eve')"}}},
		{name: "names of one table, of which another has a part", want: verdict.Pass, open: none, opts: declared(rules.Declarations{Plain: []string{"members.who"}}),
			tables: []string{players, letters, "CREATE TABLE @.members (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(20) NOT NULL UNIQUE)"}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob'),(3,'Eve')", "INSERT INTO @.members VALUES (51,'Ann'),(52,'Bob')", "INSERT INTO @.letters VALUES (501,'Ann',''),(502,'Bob',''),(503,'Eve','')"},
				{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Dan')", "INSERT INTO @.members VALUES (61,'Cid'),(62,'Eve')", "INSERT INTO @.letters VALUES (601,'Cid','')"}}}, // Eve is a player at home
		{name: "the players stay behind", tables: both, want: verdict.NotVerified, open: map[string]int64{"letters.receiver_name": 2},
			opts: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"players"}, Policy: rules.PolicySkip}}}, rows: story}, // one who stays, and one who was there
		{name: "plain", tables: both, rows: story, want: verdict.Pass, open: none, opts: declared(rules.Declarations{Plain: []string{"letters.receiver_name"}})},
		{name: "undecided", tables: both, rows: story, want: verdict.NotVerified, open: open, opts: declared(rules.Declarations{Undecided: []string{"letters.receiver_name"}})},
		{name: "a reference", tables: both, rows: story, want: verdict.Fail, open: none, opts: declared(rules.Declarations{
			References: []rules.DeclaredReference{{At: []string{"letters.receiver_name"}, To: []string{"players.name"}, None: []string{"", "0"}}}})},
		{name: "no name", rows: story, want: verdict.Pass, open: none, tables: []string{strings.Replace(players, " UNIQUE", "", 1), letters},
			opts: rules.Options{Uniques: []rules.DeclaredUnique{{Table: "players", Columns: []string{"name"}, None: []string{"Bob"}}}}},
		{name: "another case, and accents", server: true, want: verdict.NotVerified, open: map[string]int64{"letters.receiver_name": 2, "letters.body": -1}, // too long to be compared
			tables: []string{"CREATE TABLE @.players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_unicode_ci NOT NULL UNIQUE)",
				"CREATE TABLE @.letters (id INTEGER NOT NULL PRIMARY KEY, receiver_name VARCHAR(20) COLLATE utf8mb4_bin, body TEXT CHARACTER SET latin1)"},
			rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Élan')", "INSERT INTO @.letters VALUES (501,'ann','ÉLAN')"},
				{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.letters VALUES (601,'CID','cid'),(602,'elan','cid'),(603,'Élan ','elan'),(604,'cid','Elan')"}}},
		{name: "case that counts", want: verdict.NotVerified, open: open, server: true,
			tables: []string{"CREATE TABLE @.players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_bin NOT NULL UNIQUE)", letters}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Bob','')"},
				{"INSERT INTO @.players VALUES (101,'Cid'),(102,'bob')", "INSERT INTO @.letters VALUES (601,'Cid',''),(602,'Bob',''),(603,'BOB',''),(604,'bob','')"}}},
		{name: "words that the schema lists", server: true, want: verdict.Pass, open: none,
			tables: []string{players, "CREATE TABLE @.pets (id INTEGER NOT NULL PRIMARY KEY, kind ENUM('Cat','Dog'))"}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Cat'),(2,'Dog')", "INSERT INTO @.pets VALUES (501,'Cat'),(502,'Dog')"},
				{"INSERT INTO @.players VALUES (101,'Cid')", "INSERT INTO @.pets VALUES (601,'Cat'),(602,'Dog')"}}},
	}
	proveAll(t, examples)
	// What is the same in every world is named the same before and after.
	for role, d := range map[string]rules.Declarations{
		"shared":                {Shared: []string{"letters.receiver_name"}},
		"names that are shared": {Shared: []string{"players.name"}},
	} {
		t.Run(role, func(t *testing.T) {
			if report := attackWorlds(t, both, story...).check(t, declared(d)); report.Verdict != verdict.Pass {
				t.Errorf("%s\n%s", report.Verdict, brief(report))
			}
		})
	}
}

// A reference by a name that cannot follow a rename says why.
func TestNamesThatCannotFollow(t *testing.T) {
	a, b := game("a", 1, 3), game("b", 101, 3)
	for _, db := range []*mergetest.Database{a, b} {
		column := catalog.Column{Name: "who", Type: "VARCHAR(16)", Kind: catalog.KindText, Collation: mergetest.NoCase}
		db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "bounties", Columns: []catalog.Column{column}})
		db.Rows["characters"][0]["name"] = "Bob"
		db.Rows["bounties"] = []mergetest.Row{{"who": "Bob"}}
	}
	r := find(mustCheck(t, rules.Options{Renames: []rules.RenamedColumn{{Table: "characters", Column: "name"}, {Table: "bounties", Column: "who"}},
		Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"bounties.who"}, To: []string{"characters.name"}}}}}}, a, b), verdict.CodeReferenceAmbiguous, "bounties", "")
	if len(r) != 1 || r[0].Verdict != verdict.Fail || !strings.HasSuffix(r[0].Message, "; they cannot follow the new names of [[merge.name]]: the column who has a [[merge.name]] of its own, and cannot be renamed with characters.name; if it is declared plain, the column keeps its names") {
		t.Errorf("%+v", r)
	}
}

// What is said of the column: whose names it repeats, how many are names elsewhere only, and
// both rows.
func TestReportOfARepeatedName(t *testing.T) {
	w := attackWorlds(t, []string{"CREATE TABLE @.players (id INTEGER PRIMARY KEY, name TEXT UNIQUE)", "CREATE TABLE @.letters (id INTEGER PRIMARY KEY, receiver_name TEXT)",
		"CREATE TABLE @.members (id INTEGER PRIMARY KEY, who TEXT UNIQUE REFERENCES players (name))"}, // who names players himself
		[]string{"INSERT INTO @.players VALUES (1,'Ann'),(2,'Bob')", "INSERT INTO @.members VALUES (51,'Ann'),(52,'Bob')", "INSERT INTO @.letters VALUES (501,'Ann'),(502,'Bob')"},
		[]string{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Bob2')", "INSERT INTO @.members VALUES (61,'Cid')", "INSERT INTO @.letters VALUES (601,'Cid'),(602,'Bob')"})
	all := resultOf(w.check(t, rules.Options{}), "letters.receiver_name")
	if len(all) != 1 {
		t.Fatalf("%d results", len(all))
	}
	r := all[0]
	if want := "seems to repeat the names of players.name (3 of 4 values); 1 value is a name only in another database: w1: 1"; r.Message != want {
		t.Errorf("%q, want %q", r.Message, want)
	}
	if want := (verdict.OpenColumn{Keys: []string{"players.name"}, Likely: "players.name", Repeats: true}); gocmp.Diff(want, *r.Open) != "" {
		t.Errorf("%+v, want %+v", *r.Open, want)
	}
	if want := "[[w1 letters 602 Bob] [w0 players 2 Bob]]"; rowsOfSamples(r.Samples) != want {
		t.Errorf("%s, want %s", rowsOfSamples(r.Samples), want)
	}
	for _, word := range []string{"plain", "shared", "[[check.reference]]", `to = "players.name"`, "[[merge.name]]"} {
		if !strings.Contains(strings.Join(r.Next, "\n"), word) {
			t.Errorf("%q does not say %q", r.Next, word)
		}
	}
}

func rowsOfSamples(samples []verdict.Sample) string {
	var all [][]string
	for _, s := range samples {
		for _, row := range s.Rows {
			table := row.Table
			if table == "" {
				table = "letters"
			}
			line := []string{row.World, table}
			for _, f := range row.Fields {
				line = append(line, f.String())
			}
			all = append(all, line)
		}
	}
	return fmt.Sprint(all)
}

// Logins that are partly equal to the names of characters do not repeat these; the same of
// most of them would.
func TestLoginsThatArePartlyNames(t *testing.T) {
	for percent, want := range map[int]bool{20: false, 40: false, 60: true} {
		t.Run(fmt.Sprint(percent, " percent"), func(t *testing.T) {
			var rows [][]string
			for world := range 2 {
				var players, accounts []string
				for i := range 100 {
					name := fmt.Sprintf("N%dx%d", world, i)
					players = append(players, fmt.Sprintf("(%d,'%s')", 1000*world+i, name))
					login := fmt.Sprintf("user%dx%d", world, i)
					switch {
					case i < percent:
						login = strings.ToLower(name)
					case i < percent+10: // those who play in the other world by that name
						login = fmt.Sprintf("n%dx%d", 1-world, i)
					}
					accounts = append(accounts, fmt.Sprintf("(%d,'%s','10.0.%d.%d','For %s')", 10_000+1000*world+i, login, world, i, name))
				}
				rows = append(rows, []string{"INSERT INTO @.players VALUES " + strings.Join(players, ","), "INSERT INTO @.accounts VALUES " + strings.Join(accounts, ",")})
			}
			w := attackWorlds(t, []string{"CREATE TABLE @.players (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE)",
				"CREATE TABLE @.accounts (id INTEGER PRIMARY KEY, login TEXT UNIQUE, ip TEXT, note TEXT)"}, rows...)
			open := openColumns(w.check(t, rules.Options{}))
			if got := open["accounts.login"] > 0; got != want || len(open) > 1 {
				t.Errorf("open: %v, want accounts.login to be: %v", open, want)
			}
		})
	}
}

// namedGame is a game whose letters name players, or do not, in each of several worlds.
type namedGame struct {
	names, letters [][]string // of each world; letters may be NULL
	nocase         bool
}

func drawNames(t *rapid.T) *namedGame {
	g := &namedGame{nocase: rapid.Bool().Draw(t, "nocase")}
	words := []string{"Ann", "Bob", "Cid", "Dan", "Eve", "Flo", "Gus", "Hal"}
	text := rapid.Custom(func(t *rapid.T) string {
		word := rapid.SampledFrom(words).Draw(t, "word")
		if rapid.IntRange(0, 3).Draw(t, "lower") == 0 {
			word = strings.ToLower(word)
		}
		return word
	})
	for range rapid.IntRange(2, 3).Draw(t, "worlds") {
		unique := func(s string) string {
			if g.nocase {
				return strings.ToLower(s)
			}
			return s
		}
		names := rapid.SliceOfNDistinct(text, 0, 4, unique).Draw(t, "names")
		letter := rapid.OneOf(text, rapid.SampledFrom([]string{"", "  ", "0", "NULL", "nobody", "Ann Bob"}))
		if len(names) > 0 {
			letter = rapid.OneOf(rapid.SampledFrom(names), rapid.SampledFrom(names), letter)
		}
		g.names, g.letters = append(g.names, names), append(g.letters, rapid.SliceOfN(letter, 0, 8).Draw(t, "letters"))
	}
	return g
}

// write fills the worlds.
func (g *namedGame) write(t fatal, w *sqlWorlds) {
	collation := ""
	if g.nocase {
		collation = " COLLATE NOCASE"
	}
	w.everywhere(t, "CREATE TABLE @.players (id INTEGER PRIMARY KEY, name TEXT"+collation+" UNIQUE)", "CREATE TABLE @.letters (id INTEGER PRIMARY KEY, whom TEXT)")
	for i := range g.names {
		for n, name := range g.names[i] {
			w.at(t, i, fmt.Sprintf("INSERT INTO @.players VALUES (%d, '%s')", 1000*(i+1)+n, name))
		}
		for n, whom := range g.letters[i] {
			value := "'" + whom + "'"
			if whom == "NULL" {
				value = whom
			}
			w.at(t, i, fmt.Sprintf("INSERT INTO @.letters VALUES (%d, %s)", 1000*(i+1)+500+n, value))
		}
	}
}

// counted counts in SQL the letters to a name that only another world has, if letters repeat
// the names of players in one of the worlds.
func (g *namedGame) counted(t fatal, w *sqlWorlds) (n int64) {
	repeats := false
	for i := range g.names {
		values := "SELECT COUNT(*) FROM " + w.in(i, "letters") + " AS l WHERE TRIM(l.whom) NOT IN ('', '0')"
		own := " AND EXISTS (SELECT 1 FROM " + w.in(i, "players") + " AS p WHERE LOWER(p.name) = LOWER(RTRIM(l.whom)))"
		repeats = repeats || 2*w.count(t, values+own) > w.count(t, values)
		var there []string
		for j := range g.names {
			if i != j {
				there = append(there, "EXISTS (SELECT 1 FROM "+w.in(j, "players")+" AS p WHERE p.name = l.whom)")
			}
		}
		n += w.count(t, values+" AND NOT EXISTS (SELECT 1 FROM "+w.in(i, "players")+" AS p WHERE p.name = l.whom) AND ("+strings.Join(there, " OR ")+")")
	}
	if !repeats {
		return 0
	}
	return n
}

// What the check counts is what SQL counts, also if there is no room for the names; and what is open is left to a
// person by -propose and -explain.
func TestRepeatedNamesAreCounted(t *testing.T) {
	seen := [2]int{}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "mergesafe")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		g := drawNames(t)
		w := sqliteWorlds(t, dir, len(g.names))
		defer w.close()
		w.exec(t, "BEGIN")
		g.write(t, w)
		want := g.counted(t, w)
		w.exec(t, "COMMIT")
		const at = "letters.whom"
		if got := openColumns(w.check(t, rules.Options{}))[at]; got != want {
			t.Fatalf("%d rows are open, SQL counts %d: %+v", got, want, g)
		}
		sources, done := w.open(t)
		defer done()
		without, err := checkWithoutRoom(context.Background(), sources, rules.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := openColumns(without)[at]; got != want {
			t.Fatalf("%d rows are open without room, SQL counts %d: %+v", got, want, g)
		}
		seen[min(want, 1)]++
		if want == 0 || seen[1] > 10 {
			return
		}
		proposed := proposalsOf(t, sources, rules.Options{})
		explained, err := propose.Explain(context.Background(), sources, rules.Options{}, "letters", "whom")
		if err != nil {
			t.Fatal(err)
		}
		for how, columns := range map[string][]verdict.ProposedColumn{"proposed": proposed.Proposed.Columns, "explained": explained.Proposed} {
			for _, c := range columns {
				if c.Table+"."+c.Column == at && (c.Class != verdict.ClassUndecided || c.To != "players.name") {
					t.Fatalf("%s as %s %s: %s", how, c.Class, c.To, c.Evidence)
				}
			}
		}
	})
	if t.Log(seen); seen[0] == 0 || seen[1] == 0 {
		t.Errorf("the cases prove too little: %d closed, %d open", seen[0], seen[1])
	}
}
