package check_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// example is a merge of small worlds, and which columns are open in it.
type example struct {
	name   string
	tables []string   // @ stands for the world
	rows   [][]string // of each world
	opts   rules.Options
	server bool // it is about MariaDB and MySQL alone
	maria  bool // it is about MariaDB alone
	sqlite bool // it is about SQLite alone
	unseen bool // no row is shown: those that are open as hexadecimal numbers alone are not
	want   verdict.Verdict
	open   map[string]int64 // rows by column; -1 without a number
}

// What is open in the small worlds that people begin with: the same on all engines.
func TestOpenColumnsOfExamples(t *testing.T) {
	players := "CREATE TABLE @.players (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)"
	items := "CREATE TABLE @.items (id INTEGER NOT NULL PRIMARY KEY, owner_id INTEGER)"
	made := "CREATE TABLE @.items (id INTEGER NOT NULL PRIMARY KEY, owner_id INTEGER, made INTEGER GENERATED ALWAYS AS (owner_id + 0) STORED)"
	madeRows := [][]string{
		{"INSERT INTO @.players VALUES (1,'Ana'),(2,'Bob')", "INSERT INTO @.items (id, owner_id) VALUES (11,1),(12,101),(13,102)"},
		{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Dan')", "INSERT INTO @.items (id, owner_id) VALUES (111,101),(112,2)"},
	}
	letters := "CREATE TABLE @.letters (id INTEGER NOT NULL PRIMARY KEY, whom VARCHAR(20), body VARCHAR(100))"
	renaming := rules.Options{Renames: []rules.RenamedColumn{{Table: "players", Column: "name", First: true}}}
	none := map[string]int64{}
	examples := []example{
		{name: "no owner can change", tables: []string{players, items}, want: verdict.Pass, open: none, rows: [][]string{
			{"INSERT INTO @.players VALUES (1,'Ana'),(2,'Bob')", "INSERT INTO @.items VALUES (11,1),(12,2),(13,NULL),(14,77)"},
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Dan')", "INSERT INTO @.items VALUES (111,101),(112,102),(113,78)"},
		}},
		{name: "an owner can change", tables: []string{players, items}, want: verdict.NotVerified, open: map[string]int64{"items.owner_id": 3}, rows: [][]string{
			{"INSERT INTO @.players VALUES (1,'Ana'),(2,'Bob')", "INSERT INTO @.items VALUES (11,1),(12,101),(13,102)"},
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Dan')", "INSERT INTO @.items VALUES (111,101),(112,2)"},
		}},
		{name: "a column that the database makes of an open one", tables: []string{players, made}, want: verdict.NotVerified, open: map[string]int64{"items.owner_id": 3, "items.made": 3}, rows: madeRows},
		{name: "a column that the database makes of declared ones", tables: []string{players, made}, want: verdict.Pass, open: none, rows: madeRows,
			opts: rules.Options{Rules: []rules.Declarations{{Plain: []string{"items.owner_id"}}}}},
		{name: "a reference to the item itself", tables: []string{items}, want: verdict.NotVerified, open: map[string]int64{"items.owner_id": 1}, rows: [][]string{
			{"INSERT INTO @.items VALUES (11,12),(12,111)"},
			{"INSERT INTO @.items VALUES (111,112),(112,NULL)"},
		}},
		{name: "a skipped table", tables: []string{
			"CREATE TABLE @.auction (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER)"},
			opts: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}},
			want: verdict.NotVerified, open: map[string]int64{"mail.auction": 1}, rows: [][]string{
				{"INSERT INTO @.auction VALUES (1),(5)", "INSERT INTO @.mail VALUES (1001,1),(1002,5)"},
				{"INSERT INTO @.auction VALUES (2),(5)", "INSERT INTO @.mail VALUES (2001,5)"},
			}},
		{name: "a skipped table, and its rows named by nothing else", tables: []string{
			"CREATE TABLE @.auction (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER)"},
			opts: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}},
			want: verdict.NotVerified, open: map[string]int64{"mail.auction": 2}, rows: [][]string{
				{"INSERT INTO @.auction VALUES (1),(5)", "INSERT INTO @.mail VALUES (1001,1),(1002,7)"}, // 7 stays nothing: its row is not copied
				{"INSERT INTO @.auction VALUES (2),(7)", "INSERT INTO @.mail VALUES (2001,7),(2002,5),(2003,9)"},
			}},
		{name: "a skipped table whose key is a reference", tables: []string{
			"CREATE TABLE @.i (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.auction (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.mail (id INTEGER NOT NULL PRIMARY KEY, auction INTEGER)"},
			opts: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}, Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"auction.id"}, To: []string{"i.id"}}}}}},
			want: verdict.NotVerified, open: map[string]int64{"mail.auction": 1}, rows: [][]string{
				{"INSERT INTO @.i VALUES (1),(5)", "INSERT INTO @.auction VALUES (1)", "INSERT INTO @.mail VALUES (1001,1)"},
				{"INSERT INTO @.i VALUES (2),(7)", "INSERT INTO @.auction VALUES (2)", "INSERT INTO @.mail VALUES (2001,2),(2002,7)"},
			}},
		{name: "a number among hexadecimal ones", unseen: true, tables: []string{players, "CREATE TABLE @.logs (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(40))"},
			want: verdict.NotVerified, open: map[string]int64{"logs.who": 1}, rows: [][]string{
				{"INSERT INTO @.players VALUES (4096,'Ana')", "INSERT INTO @.logs VALUES (1,'2000'),(2,'1f')"},
				{"INSERT INTO @.players VALUES (8192,'Bob')", "INSERT INTO @.logs VALUES (11,'8192')"},
			}},
		{name: "IDs in VARCHAR", tables: []string{players, "CREATE TABLE @.logs (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(40))"},
			want: verdict.NotVerified, open: map[string]int64{"logs.who": 2}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1000001,'Ana')", "INSERT INTO @.logs VALUES (1,'1000001'),(2,'2000002'),(3,'0002000002')"},
				{"INSERT INTO @.players VALUES (2000002,'Bob')", "INSERT INTO @.logs VALUES (11,'2000002')"},
			}},
		{name: "names that get renamed", tables: []string{players, letters}, opts: renaming, want: verdict.NotVerified,
			open: map[string]int64{"letters.whom": 3, "letters.body": 1}, rows: [][]string{ // 604 is for a Bob of the other world
				{"INSERT INTO @.players VALUES (1,'Aria'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Aria','from aria'),(502,'Cid','')"}, // the first keeps her name
				{"INSERT INTO @.players VALUES (101,'Aria'),(102,'Dan')", "INSERT INTO @.letters VALUES (601,'Aria','hello ARIA!'),(602,'Dan','Bob and Dan'),(603,'Aria','Ariane'),(604,'Bob',NULL)"},
			}},
		{name: "names that get renamed, any of them", tables: []string{players, letters}, want: verdict.NotVerified,
			opts: rules.Options{Renames: []rules.RenamedColumn{{Table: "players", Column: "name"}}},
			open: map[string]int64{"letters.whom": 2}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Aria'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Aria','')"},
				{"INSERT INTO @.players VALUES (101,'Aria'),(102,'Dan')", "INSERT INTO @.letters VALUES (601,'Aria','')"},
			}},
		{name: "names of which none is renamed", tables: []string{players, letters}, opts: renaming, want: verdict.Pass, open: none, rows: [][]string{
			{"INSERT INTO @.players VALUES (1,'Aria'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Aria','from aria')"},
			{"INSERT INTO @.players VALUES (101,'Cid'),(102,'Dan')", "INSERT INTO @.letters VALUES (601,'Cid','hello Dan')"},
		}},
		{name: "names that get renamed, declared", tables: []string{players, letters}, want: verdict.Pass, open: none,
			opts: rules.Options{Renames: renaming.Renames, Rules: []rules.Declarations{{Plain: []string{"letters.body"},
				References: []rules.DeclaredReference{{At: []string{"letters.whom"}, To: []string{"players.name"}}}}}},
			rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Aria'),(2,'Bob')", "INSERT INTO @.letters VALUES (501,'Aria','from aria')"},
				{"INSERT INTO @.players VALUES (101,'Aria'),(102,'Dan')", "INSERT INTO @.letters VALUES (601,'Aria','hello ARIA!')"},
			}},
		{name: "names that get renamed, copied along by a key", tables: []string{players, letters}, want: verdict.Pass, open: none,
			opts: rules.Options{Renames: renaming.Renames, Copies: []rules.NameCopy{{Table: "letters", Column: "whom", Key: "id", OfTable: "players", OfColumn: "name"}}},
			rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Aria')", "INSERT INTO @.letters VALUES (501,'Aria','')"},
				{"INSERT INTO @.players VALUES (101,'Aria')", "INSERT INTO @.letters VALUES (601,'Aria','')"},
			}},
		{name: "a text with numbers", tables: []string{items, "CREATE TABLE @.bags (id INTEGER NOT NULL PRIMARY KEY, slots VARCHAR(400))"},
			want: verdict.NotVerified, open: map[string]int64{"bags.slots": 1}, rows: [][]string{
				{"INSERT INTO @.items VALUES (1000001,NULL),(1000002,NULL)", "INSERT INTO @.bags VALUES (1,'1000001 0 1000002 0'),(2,'1000001 0 2000002 0')"},
				{"INSERT INTO @.items VALUES (2000001,NULL),(2000002,NULL)", "INSERT INTO @.bags VALUES (11,'2000001 0 2000002 0')"},
			}},
		{name: "a text with numbers, all at home", tables: []string{items, "CREATE TABLE @.bags (id INTEGER NOT NULL PRIMARY KEY, slots VARCHAR(400))"},
			want: verdict.Pass, open: none, rows: [][]string{
				{"INSERT INTO @.items VALUES (1000001,NULL),(1000002,NULL)", "INSERT INTO @.bags VALUES (1,'1000001 0 1000002 0')"},
				{"INSERT INTO @.items VALUES (2000001,NULL),(2000002,NULL)", "INSERT INTO @.bags VALUES (11,'2000001 0 2000002 0')"},
			}},
		{name: "JSON", server: true, tables: []string{items, "CREATE TABLE @.bags (id INTEGER NOT NULL PRIMARY KEY, slots JSON)"},
			want: verdict.NotVerified, open: map[string]int64{"bags.slots": 2}, rows: [][]string{
				{"INSERT INTO @.items VALUES (1000001,NULL)", `INSERT INTO @.bags VALUES (1,'{"a":[1000001]}'),(2,'{"a":[2000002, 5]}'),(3,'{"id:2000001":"x"}'),(4,NULL)`},
				{"INSERT INTO @.items VALUES (2000001,NULL),(2000002,NULL)", `INSERT INTO @.bags VALUES (11,'[2000001,{"b":2000002}]')`},
			}},
		{name: "UUIDs as texts", tables: []string{"CREATE TABLE @.chars (uid CHAR(36) NOT NULL PRIMARY KEY)", "CREATE TABLE @.gear (id INTEGER NOT NULL PRIMARY KEY, uid CHAR(36), note VARCHAR(200))"},
			want: verdict.NotVerified, open: map[string]int64{"gear.uid": 1, "gear.note": 1}, rows: [][]string{
				{"INSERT INTO @.chars VALUES ('11111111-aaaa-4bbb-8ccc-000000000001')", "INSERT INTO @.gear VALUES (90001,'22222222-aaaa-4bbb-8ccc-000000000001',NULL),(90002,'11111111-aaaa-4bbb-8ccc-000000000001',NULL)"},
				{"INSERT INTO @.chars VALUES ('22222222-aaaa-4bbb-8ccc-000000000001')", "INSERT INTO @.gear VALUES (90011,NULL,'from 11111111-AAAA-4bbb-8ccc-000000000001.')"},
			}},
		{name: "UUIDs as bytes", server: true, tables: []string{"CREATE TABLE @.chars (uid BINARY(16) NOT NULL PRIMARY KEY)", "CREATE TABLE @.gear (id INTEGER NOT NULL PRIMARY KEY, uid VARBINARY(16), note VARCHAR(200))"},
			want: verdict.NotVerified, open: map[string]int64{"gear.uid": 1, "gear.note": 1}, rows: [][]string{
				{"INSERT INTO @.chars VALUES (x'11111111aaaa4bbb8ccc000000000001')", "INSERT INTO @.gear VALUES (90001,x'22222222aaaa4bbb8ccc000000000001',NULL),(90002,x'11111111aaaa4bbb8ccc000000000001',NULL)"},
				{"INSERT INTO @.chars VALUES (x'22222222aaaa4bbb8ccc000000000001')", "INSERT INTO @.gear VALUES (90011,NULL,'from 11111111-AAAA-4bbb-8ccc-000000000001.')"},
			}},
		{name: "MariaDB's UUIDs", maria: true, tables: []string{"CREATE TABLE @.chars (uid UUID NOT NULL PRIMARY KEY)", "CREATE TABLE @.gear (id INTEGER NOT NULL PRIMARY KEY, uid UUID, note VARCHAR(200))"},
			want: verdict.NotVerified, open: map[string]int64{"gear.uid": 1, "gear.note": 1}, rows: [][]string{
				{"INSERT INTO @.chars VALUES ('11111111-aaaa-4bbb-8ccc-000000000001')", "INSERT INTO @.gear VALUES (90001,'22222222-aaaa-4bbb-8ccc-000000000001',NULL),(90002,'11111111-aaaa-4bbb-8ccc-000000000001',NULL)"},
				{"INSERT INTO @.chars VALUES ('22222222-aaaa-4bbb-8ccc-000000000001')", "INSERT INTO @.gear VALUES (90011,NULL,'from 11111111-AAAA-4bbb-8ccc-000000000001.')"},
			}},
		{name: "names as keys", tables: []string{"CREATE TABLE @.chars (name VARCHAR(20) NOT NULL PRIMARY KEY)", "CREATE TABLE @.mail (id INTEGER NOT NULL PRIMARY KEY, sender VARCHAR(40), body VARCHAR(100))"},
			want: verdict.NotVerified, open: map[string]int64{"mail.sender": 1, "mail.body": 1}, rows: [][]string{
				{"INSERT INTO @.chars VALUES ('Aria'),('Bran')", "INSERT INTO @.mail VALUES (1,'Aria','Bran says hello'),(2,'Cersei','')"},
				{"INSERT INTO @.chars VALUES ('Cersei')", "INSERT INTO @.mail VALUES (11,'Cersei','(aria!)'),(12,'Hodor',NULL)"},
			}},
		{name: "one to one", tables: []string{"CREATE TABLE @.chars (guid INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.stats (guid INTEGER NOT NULL PRIMARY KEY)"},
			want: verdict.NotVerified, open: map[string]int64{"chars.guid": 1, "stats.guid": 1}, rows: [][]string{
				{"INSERT INTO @.chars VALUES (1),(2),(3)", "INSERT INTO @.stats VALUES (1),(102)"},
				{"INSERT INTO @.chars VALUES (101),(102)", "INSERT INTO @.stats VALUES (101)"},
			}},
		{name: "one to one, all at home", tables: []string{"CREATE TABLE @.chars (guid INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE @.stats (guid INTEGER NOT NULL PRIMARY KEY)"},
			want: verdict.Pass, open: none, rows: [][]string{
				{"INSERT INTO @.chars VALUES (1),(2),(3)", "INSERT INTO @.stats VALUES (1),(4)"},
				{"INSERT INTO @.chars VALUES (101),(102)", "INSERT INTO @.stats VALUES (101)"},
			}},
		{name: "a key of two columns", tables: []string{"CREATE TABLE @.spells (guid INTEGER NOT NULL, spell INTEGER NOT NULL, PRIMARY KEY (guid, spell))", "CREATE TABLE @.marks (id INTEGER NOT NULL PRIMARY KEY, of_guid INTEGER)"},
			want: verdict.NotVerified, open: map[string]int64{"marks.of_guid": 1}, rows: [][]string{
				{"INSERT INTO @.spells VALUES (1,7),(1,8),(2,7)", "INSERT INTO @.marks VALUES (9001,1),(9002,101),(9003,8)"},
				{"INSERT INTO @.spells VALUES (101,7),(102,8)", "INSERT INTO @.marks VALUES (9101,101)"},
			}},
		{name: "a key that only two columns tell apart", tables: []string{"CREATE TABLE @.spots (map INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (map, id))"},
			want: verdict.NotVerified, open: map[string]int64{"spots.(map, id) as a key": -1}, rows: [][]string{
				{"INSERT INTO @.spots VALUES (1,7),(2,8)"},
				{"INSERT INTO @.spots VALUES (1,8),(2,7)"},
			}},
		{name: "negative keys, and huge ones", server: true, tables: []string{"CREATE TABLE @.a (id BIGINT NOT NULL PRIMARY KEY)", "CREATE TABLE @.b (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, n DECIMAL(20,0), m DECIMAL(24,3))"},
			want: verdict.NotVerified, open: map[string]int64{"b.n": 2, "b.m": 1}, rows: [][]string{
				{"INSERT INTO @.a VALUES (-5),(-9223372036854775808)", "INSERT INTO @.b VALUES (18446744073709551615,-6,18446744073709551614.000),(9223372036854775808,-5,18446744073709551614.5)"},
				{"INSERT INTO @.a VALUES (-6)", "INSERT INTO @.b VALUES (18446744073709551614,18446744073709551615,NULL)"},
			}},
		{name: "IDs", tables: []string{"CREATE TABLE @.p (id BINARY(10) NOT NULL PRIMARY KEY)", "CREATE TABLE @.i (id BINARY(10) NOT NULL PRIMARY KEY, owner BINARY(10), note VARCHAR(80), old CHAR(20))"},
			want: verdict.NotVerified, open: map[string]int64{"i.owner": 1, "i.note": 1, "i.old": 1}, rows: [][]string{
				{"INSERT INTO @.p VALUES (x'00000001000000010001')", "INSERT INTO @.i VALUES (x'00000001000000010002',x'00000001000000010001',NULL,NULL),(x'00000001000000010003',x'00000001000000020001','to 00000001000000020001','00000001000000020001')"},
				{"INSERT INTO @.p VALUES (x'00000001000000020001')", "INSERT INTO @.i VALUES (x'00000001000000020002',x'00000001000000020001','00000001000000020001','00000001000000020001')"},
			}},
		{name: "a plain column is counted and does not spoil", tables: []string{players, items}, want: verdict.Pass, open: none,
			opts: rules.Options{Rules: []rules.Declarations{{Plain: []string{"items.owner_id"}}}}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1,'Ana')", "INSERT INTO @.items VALUES (11,101)"},
				{"INSERT INTO @.players VALUES (101,'Cid')", "INSERT INTO @.items VALUES (111,101)"},
			}},
		{name: "a mail of another type stays open", tables: []string{players, "CREATE TABLE @.mail (id INTEGER NOT NULL PRIMARY KEY, type INTEGER, sender INTEGER)"},
			want: verdict.NotVerified, open: map[string]int64{"mail.sender": 1},
			opts: rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"mail.sender"}, To: []string{"players.id"}, When: &rules.When{Column: "type", Is: []string{"-3"}}}}}}}, rows: [][]string{
				{"INSERT INTO @.players VALUES (1001,'Ana')", "INSERT INTO @.mail VALUES (5001,-3,1001),(5002,-4,2001),(5003,-4,-7)"},
				{"INSERT INTO @.players VALUES (2001,'Bob')", "INSERT INTO @.mail VALUES (6001,-3,2001)"},
			}},
	}
	proveAll(t, examples)
}

// proveAll proves examples on SQLite and on the server that there is.
func proveAll(t *testing.T, examples []example) {
	for _, e := range examples {
		if e.server || e.maria {
			continue // its types are those of a server
		}
		t.Run("sqlite/"+e.name, func(t *testing.T) {
			w := sqliteWorlds(t, t.TempDir(), len(e.rows))
			defer w.close()
			e.prove(t, w)
		})
	}
	t.Run("server", func(t *testing.T) {
		dsns := serverDatabases(t, 3)
		for _, e := range examples {
			if e.sqlite || e.maria && !servertest.OnMariaDB(t) {
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				w := serverWorlds(t, dsns, len(e.rows))
				defer w.close()
				e.prove(t, w)
			})
		}
	})
}

func (e *example) prove(t *testing.T, w *sqlWorlds) {
	t.Helper()
	w.everywhere(t, e.tables...)
	for i, rows := range e.rows {
		w.at(t, i, rows...)
	}
	report := w.check(t, e.opts)
	open := openColumns(report)
	if diff := cmp.Diff(e.open, open); diff != "" || report.Verdict != e.want {
		t.Errorf("%s, want %s; open columns -want +got:\n%s\n%s", report.Verdict, e.want, diff, brief(report))
	}
	if e.want == verdict.Pass && len(e.opts.Rules) > 0 && report.Plain == 0 {
		t.Error("nothing is said to rest on the word of a person")
	}
	for _, r := range report.Results {
		if r.Code == verdict.CodeReferenceUndeclared && r.Count > 0 && (len(r.Samples) == 0 && !e.unseen || len(r.Next) == 0 || !strings.Contains(strings.Join(r.Next, "\n"), r.Subject)) {
			t.Errorf("no samples, or nothing to do: %+v", r)
		}
	}
}

// brief lists what did not pass.
func brief(report *verdict.Report) string {
	var b strings.Builder
	for _, r := range report.Results {
		if r.Verdict != verdict.Pass {
			b.WriteString(r.Code + " " + r.Table + "." + r.Subject + ": " + r.Message + "\n")
			for _, g := range r.Gaps {
				b.WriteString("\t" + g.World + ": " + g.Reason + "\n")
			}
		}
	}
	return b.String()
}
