package merge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/mergetest"
)

// game is a database of a game that knows nothing of gameid: numbers that the
// database counts up, and next to nothing declared.
func game(name string, first, players int) *mergetest.Database {
	number := func(name string) merge.Column { return merge.Column{Name: name, Type: "INT", Kind: merge.KindInteger} }
	text := func(name string) merge.Column {
		return merge.Column{Name: name, Type: "VARCHAR(16)", Kind: merge.KindText, Collation: mergetest.NoCase}
	}
	db := &mergetest.Database{Label: name, Rows: make(map[string][]mergetest.Row)}
	db.Schema = merge.Catalog{Engine: "memory", Now: now, Tables: []merge.Table{
		{
			Name: "characters", Primary: []string{"guid"},
			Columns:       []merge.Column{number("guid"), text("name"), text("account"), number("guild_id")},
			AutoIncrement: &merge.AutoIncrement{Column: "guid", Next: uint64(first + players), Max: 1000},
		},
		{Name: "guild", Primary: []string{"id"}, Columns: []merge.Column{number("id"), text("name"), number("leader")}},
		{Name: "pets", Columns: []merge.Column{number("owner"), text("name")}},
	}}
	for n := range players {
		db.Rows["characters"] = append(db.Rows["characters"], mergetest.Row{
			"guid": int64(first + n), "name": fmt.Sprintf("%s-%d", name, n), "account": fmt.Sprintf("acc-%s-%d", name, n/2), "guild_id": int64(0),
		})
		db.Rows["pets"] = append(db.Rows["pets"], mergetest.Row{"owner": int64(first + n), "name": "Rex"})
	}
	db.Rows["guild"] = []mergetest.Row{{"id": int64(first), "name": "Guild of " + name, "leader": int64(first)}}
	db.Rows["characters"][0]["guild_id"] = int64(first)
	return db
}

// One account on several servers is found, and what is over the limit counted.
func TestAccounts(t *testing.T) {
	account := func(max int) merge.Options {
		return merge.Options{Accounts: []merge.AccountColumn{{Table: "characters", Column: "account", Max: max}}}
	}
	dbs := func() []*mergetest.Database {
		a, b, c := game("a", 1, 6), game("b", 101, 6), game("c", 201, 6)
		for i, row := range a.Rows["characters"][:3] {
			row["account"] = "bob"
			b.Rows["characters"][i]["account"] = "BOB" // one account to the target
		}
		c.Rows["characters"][0]["account"] = "bob"
		for n := range 4 { // many on one server were there before
			c.Rows["characters"][1+n]["account"] = "many"
			a.Rows["characters"][3]["account"], b.Rows["characters"][3]["account"] = "", "" // nobody's
			a.Rows["characters"][4]["account"], b.Rows["characters"][4]["account"] = nil, nil
		}
		return []*mergetest.Database{a, b, c}
	}
	for max, want := range map[int]struct {
		count, rows int64
		message     string
	}{
		0: {0, 0, "1 account is in more than one database"},
		3: {1, 7, "1 account is in more than one database; 1 has more than 3 characters together, 4 too many in all"},
		6: {1, 7, "1 account is in more than one database; 1 has more than 6 characters together, 1 too many in all"},
		7: {0, 0, "1 account is in more than one database, none with more than 7 characters together"},
	} {
		r := find(check(t, account(max), dbs()...), merge.CodeAccountOverflow, "characters", "account")[0]
		if r.Count != want.count || r.Rows != want.rows || r.Message != want.message {
			t.Errorf("max %d: %d accounts in %d rows: %s", max, r.Count, r.Rows, r.Message)
		}
		if want.count > 0 && (len(r.Samples) != 1 || len(r.Samples[0].Rows) != 5 || r.Samples[0].Omitted != 2) {
			t.Errorf("max %d: samples %+v", max, r.Samples)
		}
	}
}

// Counters whose ranges lie apart pass; others are not verified even where no
// key collides yet, and what would separate them is said.
func TestCounters(t *testing.T) {
	for name, test := range map[string]struct {
		plant   func(a, b, c *mergetest.Database)
		verdict merge.Verdict
		message string
		gap     string
		next    []string
	}{
		"apart": {
			func(a, b, c *mergetest.Database) {}, merge.Pass,
			"the ranges lie apart: a 1 to 10, next 11; b 101 to 110, next 111; c 201 to 210, next 211", "", nil,
		},
		"touching": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][9]["guid"] = int64(200) }, merge.Pass,
			"the ranges lie apart: a 1 to 10, next 11; b 101 to 200, next 111; c 201 to 210, next 211", "", nil,
		},
		"interleaved": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][9]["guid"] = int64(999) }, merge.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 101 to 999, next 111; c 201 to 210, next 211", "b, c count through the same numbers",
			[]string{"c: there is no room: an offset of 800 for characters.guid would reach 1,010, and the type ends at 1,000; give the column a larger type first"},
		},
		"empty": {
			func(a, b, c *mergetest.Database) {
				b.Rows["characters"] = nil
				b.Schema.Tables[0].AutoIncrement.Next = 1
			}, merge.Pass,
			"the ranges lie apart: a 1 to 10, next 11; b none, next 1; c 201 to 210, next 211", "", nil,
		},
		"one number in common": {
			func(a, b, c *mergetest.Database) { b.Rows["characters"][0]["guid"] = int64(10) }, merge.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 10 to 110, next 111; c 201 to 210, next 211", "a, b count through the same numbers",
			[]string{"b: add 1 to characters.guid and to what refers to it: pets.owner; the largest is 111 then of 1,000"},
		},
		"the same": {
			func(a, b, c *mergetest.Database) {
				for n := range 10 {
					b.Rows["characters"][n]["guid"] = int64(n + 1)
				}
			}, merge.NotVerified,
			"the ranges overlap: a 1 to 10, next 11; b 1 to 10, next 111; c 201 to 210, next 211", "a, b count through the same numbers",
			[]string{
				"b: add 10 to characters.guid and to what refers to it: pets.owner; the largest is 20 then of 1,000",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, c := game("a", 1, 10), game("b", 101, 10), game("c", 201, 10)
			test.plant(a, b, c)
			opts := merge.Options{References: []merge.DeclaredReference{{Table: "pets", Columns: []string{"owner"}, ToTable: "characters", ToColumns: []string{"guid"}}}}
			r := find(check(t, opts, a, b, c), merge.CodeAutoIncrement, "characters", "guid")[0]
			if r.Verdict != test.verdict || r.Message != test.message || r.Count != 0 {
				t.Errorf("%s: %s", r.Verdict, r.Message)
			}
			var gap string
			for _, g := range r.Gaps {
				gap += g.Reason
			}
			if gap != test.gap {
				t.Errorf("gap %q, want %q", gap, test.gap)
			}
			if len(test.next) > 0 {
				if diff := cmp.Diff(test.next, r.Next[:len(test.next)]); diff != "" {
					t.Errorf("next steps (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What an offset proposes does separate the counters.
func TestOffsetsSeparate(t *testing.T) {
	a, b, c := game("a", 1, 10), game("b", 5, 10), game("c", 1, 7)
	for _, target := range []string{"a", "b", "c"} {
		r := find(check(t, merge.Options{Target: target}, a, b, c), merge.CodeAutoIncrement, "characters", "")[0]
		moved := make(map[string]int64)
		for _, step := range r.Next {
			name, rest, ok := strings.Cut(step, ": add ")
			var n int64
			if _, err := fmt.Sscanf(rest, "%d", &n); ok && err == nil {
				moved[name] = n
			}
		}
		shifted := []*mergetest.Database{game("a", 1+int(moved["a"]), 10), game("b", 5+int(moved["b"]), 10), game("c", 1+int(moved["c"]), 7)}
		if moved[target] != 0 || len(moved) != 2 {
			t.Errorf("target %s: %v", target, moved)
		}
		if r := find(check(t, merge.Options{Target: target}, shifted...), merge.CodeAutoIncrement, "characters", "")[0]; r.Verdict != merge.Pass {
			t.Errorf("target %s, moved by %v: %s", target, moved, r.Message)
		}
	}
}

// What the operator declares is checked as if the schema had declared it.
func TestDeclared(t *testing.T) {
	type found = map[string]int64
	owner := merge.DeclaredReference{Table: "pets", Columns: []string{"owner"}, ToTable: "characters", ToColumns: []string{"guid"}}
	guild := merge.DeclaredReference{Table: "characters", Columns: []string{"guild_id"}, ToTable: "guild", ToColumns: []string{"id"}}
	guildOrNone := guild
	guildOrNone.ZeroIsNone = true
	name := merge.DeclaredUnique{Table: "characters", Columns: []string{"name"}, Name: "character name"}
	for test, tt := range map[string]struct {
		opts  merge.Options
		plant func(a, b *mergetest.Database)
		want  found
	}{
		"nothing": {merge.Options{}, func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-0" }, found{}},
		"unique": {
			merge.Options{Uniques: []merge.DeclaredUnique{name}},
			func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "A-0" }, found{"unique-collision|characters|name": 1},
		},
		"unique within one database": {
			merge.Options{Uniques: []merge.DeclaredUnique{name}},
			func(a, b *mergetest.Database) { b.Rows["characters"][0]["name"] = "b-1" }, found{"unique-collision|characters|name": 1},
		},
		"reference": {
			merge.Options{References: []merge.DeclaredReference{owner}},
			func(a, b *mergetest.Database) {
				b.Rows["pets"][0]["owner"] = int64(999)
				b.Rows["pets"][1]["owner"] = int64(3)
			},
			found{"reference-dangling|pets|owner → characters.guid": 2, "reference-rebind|pets|owner → characters.guid": 1},
		},
		"reference to a key that collides": {
			merge.Options{References: []merge.DeclaredReference{owner}},
			func(a, b *mergetest.Database) {
				b.Rows["characters"][0]["guid"] = int64(3) // 3 is in both; two of a's pets and one of b's mean it
				a.Rows["pets"][0]["owner"] = int64(3)
				b.Rows["pets"][0]["owner"] = int64(3)
			},
			found{"key-collision|characters|guid": 1, "reference-ambiguous|pets|owner → characters.guid": 3},
		},
		"0 is a value": {
			merge.Options{References: []merge.DeclaredReference{guild}}, func(a, b *mergetest.Database) {},
			found{"reference-dangling|characters|guild_id → guild.id": 18},
		},
		"0 is none": {
			merge.Options{References: []merge.DeclaredReference{guildOrNone}}, func(a, b *mergetest.Database) {}, found{},
		},
		"0 is none though another database has it": {
			merge.Options{References: []merge.DeclaredReference{guildOrNone}},
			func(a, b *mergetest.Database) {
				b.Rows["guild"] = append(b.Rows["guild"], mergetest.Row{"id": int64(0), "name": "none", "leader": int64(101)})
				a.Rows["characters"][5]["guild_id"] = int64(77)
			},
			found{"reference-dangling|characters|guild_id → guild.id": 1},
		},
	} {
		t.Run(test, func(t *testing.T) {
			a, b := game("a", 1, 10), game("b", 101, 10)
			tt.plant(a, b)
			if diff := cmp.Diff(tt.want, findings(check(t, tt.opts, a, b))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}

	// The target takes no two of the guilds for equal, but what finds its own
	// guild at home, in any case, would find the other's in the target.
	t.Run("ambiguous only to the target", func(t *testing.T) {
		a, b := settled(1), settled(2)
		ref := merge.DeclaredReference{Table: "players", Columns: []string{"mail"}, ToTable: "guilds", ToColumns: []string{"name"}}
		a.Schema.Tables[0].Columns[1].Collation = mergetest.Binary
		a.Rows["guilds"][0]["name"], b.Rows["guilds"][0]["name"] = "Owls", "OWLS"
		b.Rows["players"][0]["mail"] = "Owls"
		want := found{"schema-column|guilds|name": 1, "reference-ambiguous|players|mail → guilds.name": 1}
		if diff := cmp.Diff(want, findings(check(t, merge.Options{References: []merge.DeclaredReference{ref}}, a, b))); diff != "" {
			t.Errorf("findings (-want +got):\n%s", diff)
		}
	})

	t.Run("ambiguous is shown from all sides", func(t *testing.T) {
		a, b := game("a", 1, 10), game("b", 10, 10)
		r := find(check(t, merge.Options{References: []merge.DeclaredReference{owner}}, a, b), merge.CodeReferenceAmbiguous, "pets", "")[0]
		if r.Count != 2 || len(r.Samples) != 2 {
			t.Fatalf("%d rows, %d samples: %+v", r.Count, len(r.Samples), r)
		}
		var rows []string
		for _, row := range r.Samples[0].Rows {
			rows = append(rows, row.Source+" "+row.Table+" "+row.Fields[0].Value)
		}
		if diff := cmp.Diff([]string{"a  10", "a characters 10", "b characters 10"}, rows); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// IDs are judged wherever they are, and however they are written.
func TestIDsAnywhere(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(a, b *mergetest.Database) []merge.IDColumn
		want  map[string]int64
	}{
		"outside of the key": {
			func(a, b *mergetest.Database) []merge.IDColumn {
				b.Rows["items"][0]["owner"] = id(9, 1)
				b.Schema.Tables[1].References, a.Schema.Tables[1].References = nil, nil
				return nil
			},
			map[string]int64{"server-unlisted|items|owner": 1},
		},
		"declared, as digits": {
			func(a, b *mergetest.Database) []merge.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					c := &db.Schema.Tables[3].Columns[2]
					c.Kind, c.Opaque = merge.KindText, "TEXT"
				}
				b.Rows["players"][0]["mail"] = id(2, 1).String()
				b.Rows["players"][1]["mail"] = id(9, 1).String()
				b.Rows["players"][2]["mail"] = idAt(2, nowMillis()+hour, 0).String()
				b.Rows["players"][3]["mail"] = "nobody"
				return []merge.IDColumn{{Table: "players", Column: "mail"}}
			},
			map[string]int64{"server-unlisted|players|mail": 1, "id-future|players|mail": 1, "id-above-mark|players|mail": 1, "id-invalid|players|mail": 1},
		},
		"declared, part of a key": {
			func(a, b *mergetest.Database) []merge.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					db.Schema.Tables[2].Columns[0].IsID = false
				}
				b.Rows["members"][0]["guild"] = id(9, 1)
				b.Schema.Tables[2].References, a.Schema.Tables[2].References = nil, nil
				return []merge.IDColumn{{Table: "members", Column: "guild"}}
			},
			map[string]int64{"server-unlisted|members|guild": 1},
		},
		"in a table without a key": {
			func(a, b *mergetest.Database) []merge.IDColumn {
				for _, db := range []*mergetest.Database{a, b} {
					db.Schema.Tables = append(db.Schema.Tables, merge.Table{Name: "log", Columns: []merge.Column{
						{Name: "who", Kind: merge.KindBytes, IsID: true, Nullable: true}, {Name: "whom", Kind: merge.KindBytes, IsID: true, Nullable: true},
					}})
				}
				b.Rows["log"] = []mergetest.Row{{"who": id(2, 1), "whom": id(9, 1)}, {"who": id(2, 2)}, {}, {"who": id(9, 1), "whom": id(8, 1)}}
				return nil
			},
			map[string]int64{"server-unlisted|log|who": 1, "server-unlisted|log|whom": 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			ids := test.plant(a, b)
			report := check(t, merge.Options{IDs: ids}, a, b)
			if diff := cmp.Diff(test.want, findings(report)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			for _, r := range find(report, merge.CodeColumnOpaque, "", "") {
				t.Errorf("a declared column is opaque: %+v", r)
			}
		})
	}
	// Where nothing else speaks of IDs, 10 bytes are not taken for one.
	for _, declared := range [][]merge.IDColumn{nil, {{Table: "characters", Column: "hash"}}} {
		c, d := game("c", 1, 3), game("d", 11, 3)
		for _, db := range []*mergetest.Database{c, d} {
			db.Schema.Tables[0].Columns = append(db.Schema.Tables[0].Columns, merge.Column{Name: "hash", Type: "BINARY(10)", Kind: merge.KindBytes, IsID: true})
			for _, row := range db.Rows["characters"] {
				row["hash"] = make([]byte, 10)
			}
		}
		if got := len(find(check(t, merge.Options{IDs: declared}, c, d), merge.CodeIDInvalid, "characters", "hash")); got != len(declared) {
			t.Errorf("declared %v: %d results", declared, got)
		}
	}

	// A column that holds IDs in one database only.
	a, b := settled(1), settled(2)
	b.Schema.Tables[1].Columns[1].IsID = false
	r := find(check(t, merge.Options{}, a, b), merge.CodeServerUnlisted, "items", "owner")[0]
	want := []merge.Gap{{Source: "s2", Reason: "column owner is BLOB and holds no IDs there"}}
	if diff := cmp.Diff(want, r.Gaps); diff != "" || r.Verdict != merge.NotVerified {
		t.Errorf("%s (-want +got):\n%s", r.Verdict, diff)
	}
}

// A look into opaque columns is a guess: it is told with the reason, and changes
// nothing.
func TestOpaque(t *testing.T) {
	const opaque, none, one = "may hold IDs that no rule can see", "; a guess: 0 of 1 value looked into have what looks like one", "; a guess: 1 of 1 value looked into have what looks like one"
	for value, guess := range map[any]string{
		nil:         "",
		"":          "",
		"[1, 2, 3]": none,
		`{"guild": "` + id(2, 300).String() + `"}`: one,
		`{"guild": "` + id(7, 300).String() + `"}`: none, // nobody's
		`{"level": 70}`:                   none,
		`{"owner_id": 70}`:                one,
		"ff00" + id(2, 1).String() + "00": one,
	} {
		a, b := settled(1), settled(2)
		b.Schema.Tables[3].Columns[2].Opaque = "JSON"
		b.Rows["players"][2]["mail"] = value
		reason := "JSON"
		if guess == one {
			reason += ", and seems to hold IDs: a guess from a few rows"
		}
		r := find(check(t, merge.Options{}, a, b), merge.CodeColumnOpaque, "players", "mail")
		if len(r) != 1 || r[0].Verdict != merge.NotVerified || len(r[0].Gaps) != 1 || r[0].Gaps[0] != (merge.Gap{Source: "s2", Reason: reason}) || r[0].Message != opaque+guess {
			t.Errorf("%v: got %+v, want %q and %q", value, r, reason, guess)
		}
	}
	// Rows are looked into from the beginning to the end, but not all.
	a, b := settled(1), settled(2)
	b.Schema.Tables[3].Columns[2].Opaque = "JSON"
	b.BatchRows = 10
	b.Rows["players"] = nil
	for n := range 1000 {
		b.Rows["players"] = append(b.Rows["players"], mergetest.Row{"id": id(2, n), "name": fmt.Sprint(n), "mail": fmt.Sprint("{", n, "}")})
	}
	r := find(check(t, merge.Options{}, a, b), merge.CodeColumnOpaque, "players", "mail")[0]
	if want := opaque + "; a guess: 0 of 14 values looked into have what looks like one"; r.Message != want {
		t.Errorf("%q, want %q", r.Message, want)
	}
}

// A table that is the same everywhere is told apart from one in which rows are
// in each other's way. It fails all the same.
func TestAlike(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(a, b, c *mergetest.Database)
		want  bool
	}{
		"the same":     {func(a, b, c *mergetest.Database) {}, true},
		"one is empty": {func(a, b, c *mergetest.Database) { b.Rows["guild"] = nil }, true},
		"another row":  {func(a, b, c *mergetest.Database) { c.Rows["guild"][1]["leader"] = int64(9) }, false},
		"a row more": {func(a, b, c *mergetest.Database) {
			c.Rows["guild"] = append(c.Rows["guild"], mergetest.Row{"id": int64(9), "name": "x"})
		}, false},
		"nothing in common":   {func(a, b, c *mergetest.Database) { a.Rows["guild"], b.Rows["guild"] = nil, nil }, false},
		"another in one only": {func(a, b, c *mergetest.Database) { b.Rows["guild"][0]["id"] = int64(8) }, false},
	} {
		dbs := []*mergetest.Database{game("a", 1, 2), game("b", 11, 2), game("c", 21, 2)}
		for _, db := range dbs {
			db.Schema.Tables[1].Uniques = []merge.Unique{{Name: "n", Columns: []string{"name"}}}
			db.Rows["guild"] = []mergetest.Row{{"id": int64(1), "name": "Orcs", "leader": int64(0)}, {"id": int64(2), "name": "Elves", "leader": int64(0)}}
		}
		test.plant(dbs[0], dbs[1], dbs[2])
		report := check(t, merge.Options{}, dbs...)
		for _, code := range []string{merge.CodeKeyCollision, merge.CodeUniqueCollision} {
			r := find(report, code, "guild", "")[0]
			if r.Alike != test.want || r.Alike && r.Verdict != merge.Fail {
				t.Errorf("%s, %s: alike %v, want %v; %s", name, code, r.Alike, test.want, r.Message)
			}
		}
		var text strings.Builder
		if err := report.WriteText(&text, merge.TextOptions{}); err != nil || strings.Contains(text.String(), "the game's own data? guild") != test.want {
			t.Errorf("%s: %v\n%s", name, err, &text)
		}
	}
}

// A unique index without NULLs does for a key; one with NULLs does not.
func TestTableWithoutPrimaryKey(t *testing.T) {
	dbs := func(nullable bool) (a, b *mergetest.Database) {
		a, b = game("a", 1, 5), game("b", 101, 5)
		for _, db := range []*mergetest.Database{a, b} {
			pets := &db.Schema.Tables[2]
			pets.Uniques = []merge.Unique{{Name: "owner_name", Columns: []string{"owner", "name"}}}
			pets.Columns[1].Nullable = nullable
		}
		b.Rows["pets"][0]["owner"] = int64(3)
		return a, b
	}
	a, b := dbs(false)
	report := check(t, merge.Options{}, a, b)
	if r := find(report, merge.CodeKeyCollision, "pets", "")[0]; r.Count != 1 || r.Subject != "(owner, name)" || len(r.Samples) != 1 {
		t.Errorf("got %+v, want 1 key (owner, name)", r)
	}
	if again := find(report, merge.CodeUniqueCollision, "pets", ""); len(again) > 0 {
		t.Errorf("the same index twice: %+v", again)
	}
	a, b = dbs(true)
	report = check(t, merge.Options{}, a, b)
	r := find(report, merge.CodeKeyCollision, "pets", "")[0]
	if r.Verdict != merge.NotVerified || r.Gaps[0].Reason != "the table has no primary key, and its unique index (owner, name) leaves out rows with NULL" {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}
	if r := find(report, merge.CodeUniqueCollision, "pets", "(owner, name)")[0]; r.Count != 1 {
		t.Errorf("got %+v, want 1 value", r)
	}
}

// A table that the operator leaves out is not read, and not passed either.
func TestExclude(t *testing.T) {
	const excluded, unreadable = "excluded by the operator", "MyISAM"
	for _, test := range []struct {
		include, exclude []string
		left             string
		skipped          map[string]string
	}{
		{nil, []string{"characters"}, "guild pets", map[string]string{"characters": excluded, "pack": unreadable}},
		{nil, []string{"p*", "g*"}, "characters", map[string]string{"guild": excluded, "pets": excluded, "pack": excluded}},
		{[]string{"p*"}, nil, "pets", map[string]string{"characters": excluded, "guild": excluded, "pack": unreadable}},
		{[]string{"*"}, []string{"[cg]*"}, "pets", map[string]string{"characters": excluded, "guild": excluded, "pack": unreadable}},
	} {
		a, b := game("a", 1, 5), game("b", 1, 5)
		b.Schema.Skipped = []merge.Skipped{{Table: "pack", Reason: "MyISAM"}}
		report := check(t, merge.Options{Include: test.include, Exclude: test.exclude}, a, b)
		var left []string
		for _, r := range find(report, merge.CodeKeyCollision, "", "") {
			left = append(left, r.Table)
		}
		if got := strings.Join(left, " "); got != test.left {
			t.Errorf("%v %v: looked at %q, want %q", test.include, test.exclude, got, test.left)
		}
		skipped := make(map[string]string)
		for _, r := range find(report, merge.CodeTableSkipped, "", "") {
			if r.Verdict != merge.NotVerified {
				t.Errorf("%s is %s", r.Table, r.Verdict)
			}
			skipped[r.Table] = r.Gaps[0].Reason
		}
		if diff := cmp.Diff(test.skipped, skipped); diff != "" {
			t.Errorf("%v %v (-want +got):\n%s", test.include, test.exclude, diff)
		}
	}
	// What is declared of a table that is left out means nothing.
	left, right := game("a", 1, 5), game("b", 1, 5)
	check(t, merge.Options{
		Exclude: []string{"characters"}, Uniques: []merge.DeclaredUnique{{Table: "characters", Columns: []string{"name"}}},
		Accounts: []merge.AccountColumn{{Table: "characters", Column: "account"}},
	}, left, right)
	// What refers to a table that is left out cannot be followed.
	a, b := settled(1), settled(2)
	r := find(check(t, merge.Options{Exclude: []string{"players"}}, a, b), merge.CodeReferenceDangle, "items", "")[0]
	if r.Verdict != merge.NotVerified || r.Gaps[0].Reason != "refers to players, which is excluded by the operator" {
		t.Errorf("got %+v, want NOT VERIFIED", r)
	}
}

func TestUnsuitableOptions(t *testing.T) {
	for want, opts := range map[string]merge.Options{
		`unique 1: no source has a table "charcters" (did you mean "characters"?)`:            {Uniques: []merge.DeclaredUnique{{Table: "charcters", Columns: []string{"name"}}}},
		`unique 1: table "characters" has no column "nmae" (did you mean "name"?)`:            {Uniques: []merge.DeclaredUnique{{Table: "characters", Columns: []string{"nmae"}}}},
		`unique 1: it names no column of "characters"`:                                        {Uniques: []merge.DeclaredUnique{{Table: "characters"}}},
		`unique 1: it names column "name" twice`:                                              {Uniques: []merge.DeclaredUnique{{Table: "characters", Columns: []string{"name", "name"}}}},
		`reference 1: no source has a table "guilds" (did you mean "guild"?)`:                 {References: []merge.DeclaredReference{{Table: "pets", Columns: []string{"owner"}, ToTable: "guilds", ToColumns: []string{"id"}}}},
		`reference 1: it pairs 1 columns with 2`:                                              {References: []merge.DeclaredReference{{Table: "pets", Columns: []string{"owner"}, ToTable: "guild", ToColumns: []string{"id", "name"}}}},
		`reference 1: zero_is_none needs a reference of one column, this one has 2`:           {References: []merge.DeclaredReference{{Table: "pets", Columns: []string{"owner", "name"}, ToTable: "guild", ToColumns: []string{"id", "name"}, ZeroIsNone: true}}},
		`account 1: table "characters" has no column "acount" (did you mean "account"?)`:      {Accounts: []merge.AccountColumn{{Table: "characters", Column: "acount"}}},
		`account 1: max is -1, want 0 or more`:                                                {Accounts: []merge.AccountColumn{{Table: "characters", Column: "account", Max: -1}}},
		`id 1: column guid of characters is INT in a: an ID is 10 bytes or 20 digits of text`: {IDs: []merge.IDColumn{{Table: "characters", Column: "guid"}}},
		`no source has a table that matches "charcters" (did you mean "characters"?)`:         {Exclude: []string{"charcters"}},
		`no source has a table that matches "x*"`:                                             {Include: []string{"x*"}},
		`the pattern "[" is malformed`:                                                        {Exclude: []string{"["}},
		`allow: no rule has the code "key-colision" (did you mean "key-collision"?)`:          {Allow: []string{"key-colision"}},
		`fail on: no rule has the code "key-colision" (did you mean "key-collision"?)`:        {FailOn: []string{"key-colision"}},
		`only: no rule has the code "" `:                                                      {Only: []merge.Selection{{Table: "pets"}}},
		`id-future is both to be allowed and to fail`:                                         {Allow: []string{"id-future"}, FailOn: []string{"id-future"}},
	} {
		report, err := merge.Check(context.Background(), sources(game("a", 1, 2), game("b", 11, 2)), opts)
		if report != nil || !errors.Is(err, merge.ErrOptions) || !strings.HasPrefix(err.Error()+" ", "merge: unsuitable options: "+want) {
			t.Errorf("report %v, error %v, want %q", report, err, want)
		}
	}
}

// A check that is limited to some results gives them as a whole check does,
// and no others.
func TestOnly(t *testing.T) {
	full := check(t, merge.Options{}, faulty()...)
	for _, r := range full.Results {
		only := []merge.Selection{{Code: r.Code, Table: r.Table, Subject: r.Subject}}
		got := check(t, merge.Options{Only: only}, faulty()...)
		var same []merge.Result
		for _, one := range got.Results {
			if one.Code == merge.CodeKeyCollision {
				one.Next, r.Next = nil, nil // the reason why keys collide was not looked for
			}
			if one.Code == merge.CodeColumnOpaque {
				one.Message, r.Message = "", "" // there were no rows to look into
			}
			if one.Subject == r.Subject {
				same = append(same, one)
			}
		}
		if diff := cmp.Diff([]merge.Result{r}, same); diff != "" {
			t.Errorf("only %v (-whole +only):\n%s", only, diff)
		}
		for _, one := range got.Results {
			if one.Code != r.Code || one.Table != r.Table {
				t.Errorf("only %v: also %s %s %s", only, one.Code, one.Table, one.Subject)
			}
		}
		if diff := cmp.Diff(only, got.Only); diff != "" {
			t.Errorf("the report does not say what it is limited to:\n%s", diff)
		}
	}

	// What is not selected is not read.
	reads := make(map[string]bool)
	check(t, merge.Options{
		Only:     []merge.Selection{{Code: merge.CodeUniqueCollision, Table: "players", Subject: "name"}},
		Progress: func(p merge.Progress) { reads[p.Code+" "+p.Table] = true },
	}, faulty()...)
	if diff := cmp.Diff(map[string]bool{"unique-collision players": true}, reads); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}

	// What is no longer there is not passed.
	gone := []merge.Selection{{Code: merge.CodeSchemaTable, Table: "players"}, {Code: merge.CodeUniqueCollision, Table: "players", Subject: "nick"}}
	report := check(t, merge.Options{Only: gone}, faulty()...)
	if r := find(report, merge.CodeUniqueCollision, "players", "nick"); len(r) != 1 || r[0].Verdict != merge.NotVerified || report.Verdict != merge.NotVerified {
		t.Errorf("%s: %+v", report.Verdict, report.Results)
	}
}

// Allow and FailOn change what counts, never what was found.
func TestAllowAndFailOn(t *testing.T) {
	dbs := func() []*mergetest.Database {
		a, b := settled(1), settled(2)
		b.Rows["players"][0]["name"] = "PLAYER1.0"
		b.Schema.Skipped = []merge.Skipped{{Table: "log", Reason: "MyISAM"}}
		return []*mergetest.Database{a, b}
	}
	plain := check(t, merge.Options{}, dbs()...)
	for _, test := range []struct {
		allow, failOn []string
		want          merge.Verdict
	}{
		{nil, nil, merge.Fail},
		{[]string{"unique-collision"}, nil, merge.NotVerified},
		{[]string{"unique-collision", "table-skipped"}, nil, merge.Pass},
		{[]string{"table-skipped"}, nil, merge.Fail},
		{[]string{"unique-collision"}, []string{"table-skipped"}, merge.Fail},
		{[]string{"unique-collision", "table-skipped"}, []string{"key-collision"}, merge.Pass},
	} {
		got := check(t, merge.Options{Allow: test.allow, FailOn: test.failOn}, dbs()...)
		if got.Verdict != test.want {
			t.Errorf("allow %v, fail on %v: %s, want %s", test.allow, test.failOn, got.Verdict, test.want)
		}
		for i, r := range got.Results {
			if (r.CountsAs != "") != (r.Verdict != merge.Pass && len(test.allow) > 0 && strings.Contains(strings.Join(test.allow, " "), r.Code) ||
				r.Verdict == merge.NotVerified && strings.Contains(strings.Join(test.failOn, " "), r.Code)) {
				t.Errorf("allow %v, fail on %v: %s %s counts as %q", test.allow, test.failOn, r.Code, r.Verdict, r.CountsAs)
			}
			r.CountsAs = ""
			if diff := cmp.Diff(plain.Results[i], r); diff != "" {
				t.Errorf("allow %v, fail on %v (-without +with):\n%s", test.allow, test.failOn, diff)
			}
		}
	}
}

// The quick tier comes before any row is read, and says nothing that the whole
// check does not say.
func TestQuick(t *testing.T) {
	var quick *merge.Report
	read := false
	full := check(t, merge.Options{
		Quick: func(r *merge.Report) {
			if read {
				t.Error("rows were read before")
			}
			quick = r
		},
		Progress: func(merge.Progress) { read = true },
	}, faulty()...)
	if quick == nil || quick.Verdict != "" || quick.Incomplete == "" || quick.ExitCode() != merge.ExitIncomplete {
		t.Fatalf("the quick report: %+v", quick)
	}
	whole := make(map[string]merge.Result)
	for _, r := range full.Results {
		whole[key(r.Code, r.Table, r.Subject)] = r
	}
	for _, r := range quick.Results {
		if diff := cmp.Diff(whole[key(r.Code, r.Table, r.Subject)], r); diff != "" {
			t.Errorf("(-whole +quick):\n%s", diff)
		}
	}
	for _, code := range []string{merge.CodeServerConflict, merge.CodeSchemaColumn, merge.CodeTableSkipped} {
		if len(find(quick, code, "", "")) == 0 {
			t.Errorf("no %s", code)
		}
	}
	if got := quick.Sources[0].Tables[1]; got.Table != "items" || got.Rows != 13 || got.First != full.Sources[0].Tables[1].First || got.Last != full.Sources[0].Tables[1].Last {
		t.Errorf("items of s1: %+v, want as in the whole report: %+v", got, full.Sources[0].Tables[1])
	}
}

// What would run in the target is said; what cannot be seen there is not
// passed.
func TestTriggers(t *testing.T) {
	insert := merge.Trigger{Name: "greet", Event: "AFTER INSERT"}
	for name, test := range map[string]struct {
		plant func(target, other *mergetest.Database)
		want  map[string]string
	}{
		"none":          {func(a, b *mergetest.Database) {}, map[string]string{"": "PASS"}},
		"in the target": {func(a, b *mergetest.Database) { a.Schema.Tables[3].Triggers = []merge.Trigger{insert} }, map[string]string{"": "PASS", "players": "NOT VERIFIED"}},
		"in the source": {func(a, b *mergetest.Database) { b.Schema.Tables[3].Triggers = []merge.Trigger{insert} }, map[string]string{"": "PASS"}},
		"of deletion": {func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Triggers = []merge.Trigger{{Name: "bury", Event: "BEFORE DELETE"}}
		}, map[string]string{"": "PASS"}},
		"hidden in the target": {func(a, b *mergetest.Database) { a.Schema.Hidden = []string{"triggers: they take a privilege"} }, map[string]string{"": "NOT VERIFIED"}},
		"hidden in the source": {func(a, b *mergetest.Database) { b.Schema.Hidden = []string{"triggers: they take a privilege"} }, map[string]string{"": "PASS"}},
	} {
		a, b := settled(1), settled(2)
		test.plant(a, b)
		got := make(map[string]string)
		for _, r := range find(check(t, merge.Options{}, a, b), merge.CodeTriggerFires, "", "") {
			got[r.Table] = string(r.Verdict)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where a database changes while it is read, that is said, and is no error.
func TestNoSnapshot(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.NoSnapshot = true
	b.Rows["players"][0]["name"] = "PLAYER1.0"
	b.OnRow = func() error { b.Rows["players"] = b.Rows["players"][1:]; b.OnRow = nil; return nil }
	report := check(t, merge.Options{}, a, b)
	if r := find(report, merge.CodeNoSnapshot, "", ""); len(r) != 1 || r[0].Verdict != merge.NotVerified || r[0].Gaps[0].Source != "s2" {
		t.Errorf("got %+v", r)
	}
	rows := find(report, merge.CodeUniqueCollision, "players", "name")[0].Samples[0].Rows
	want := []merge.Field{{Column: "id", Value: id(2, 0).String()}}
	if diff := cmp.Diff(want, rows[1].Fields); diff != "" {
		t.Errorf("a row that was deleted (-want +got):\n%s", diff)
	}
}
