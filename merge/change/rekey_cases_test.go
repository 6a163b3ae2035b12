package change_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// integer is a number in a test.
func integer(text string) keys.Integer {
	n, ok := keys.ParseInteger([]byte(text))
	if !ok {
		panic(text)
	}
	return n
}

// Every reason for which a rekeying merge is refused is one that it can be refused for,
// with the name of what is wrong.
func TestRekeyRefusals(t *testing.T) {
	ref := func(at, to string, none ...string) rules.DeclaredReference {
		return rules.DeclaredReference{At: []string{at}, To: []string{to}, None: none}
	}
	for _, tt := range []struct {
		name    string
		further []string
		more    func(o *rules.Options, d *rules.Declarations)
		code    string
		subject string // a part of the reason, or of the table
	}{
		{"a column has no room", nil, func(o *rules.Options, d *rules.Declarations) { o.Rekey.Spaces[0].Max = 5 }, verdict.CodeKeySpace, "there is no room"},
		{"a chosen offset is in the way", nil, func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces[0].Offsets = map[string]uint64{"w1": 2}
		}, verdict.CodeKeySpace, "the offset 2"},
		{"a value is no number", []string{"CREATE TABLE notes (line VARCHAR(20) NOT NULL)", "INSERT INTO notes VALUES ('x3')"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("notes.line", "chars.guid"))
		}, verdict.CodeKeySpace, "not a plain number"},
		{"a cell that has not its format", []string{"CREATE TABLE notes (line VARCHAR(20) NOT NULL)", "INSERT INTO notes VALUES ('1 x3')"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"notes.line"}, To: []string{"chars.guid"}, Format: "list sep=' ' every"})
		}, verdict.CodeCellFormat, "line"},
		{"values would come to mean nobody", []string{"CREATE TABLE pets (owner INTEGER)", "INSERT INTO pets VALUES (1), (3)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("pets.owner", "chars.guid", ">=500"))
		}, verdict.CodeKeySpace, "refer to no row"},
		{"one column, two offsets", []string{"CREATE TABLE notes (about INTEGER)", "INSERT INTO notes VALUES (1), (3)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces[0].Offsets = map[string]uint64{"w1": 7000}
			d.References = append(d.References, rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"chars.guid", "items.id"}})
		}, verdict.CodeKeySpace, "one space"},
		{"one column, two offsets, one by way of another table", []string{"CREATE TABLE about (named INTEGER)", "INSERT INTO about VALUES (1), (3)", "CREATE TABLE stats (guid INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO stats VALUES (1), (3)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces[0].Offsets = map[string]uint64{"w1": 7000}
			d.References = append(d.References, ref("stats.guid", "chars.guid"), rules.DeclaredReference{At: []string{"about.named"}, To: []string{"stats.guid", "items.id"}})
		}, verdict.CodeKeySpace, "one space"},
		{"0 may be nobody", []string{"CREATE TABLE pets (owner INTEGER)", "INSERT INTO pets VALUES (1), (0)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("pets.owner", "chars.guid"))
		}, verdict.CodeKeyNobody, "may mean no row: 0"},
		{"-1 may be nobody", []string{"CREATE TABLE pets (owner INTEGER)", "INSERT INTO pets VALUES (-1), (0)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("pets.owner", "chars.guid", "0"))
		}, verdict.CodeKeyNobody, "may mean no row: -1"},
		{"one dangling value in many rows", []string{"CREATE TABLE pets (owner INTEGER)", "INSERT INTO pets VALUES (77), (77), (77), (77), (77), (77), (77), (77), (77), (77), (1)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("pets.owner", "chars.guid"))
		}, verdict.CodeKeyNobody, "may mean no row: 77"},
		{"a number in a key", []string{"CREATE TABLE bag (owner INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (owner, slot))", "INSERT INTO bag VALUES (1, 1), (1, 2)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("bag.owner", "chars.guid"))
		}, verdict.CodeKeyUndeclared, "slot"},
		{"a column that is not declared", []string{"CREATE TABLE pets (owner INTEGER)", "INSERT INTO pets VALUES (1), (3)"}, nil, verdict.CodeReferenceUndeclared, "owner"},
		{"a column that may name rows beside those that are gone", []string{"CREATE TABLE stats (guid INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO stats VALUES (9), (1)", "CREATE TABLE notes (about INTEGER)", "INSERT INTO notes VALUES (9)"}, func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, ref("stats.guid", "chars.guid"))
		}, verdict.CodeReferenceUndeclared, "about"},
		{"rows that no condition covers", []string{"CREATE TABLE mail (kind INTEGER, sender INTEGER)", "INSERT INTO mail VALUES (0, 1), (5, 2)"}, func(o *rules.Options, d *rules.Declarations) {
			d.Plain = append(d.Plain, "mail.kind")
			d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.sender"}, To: []string{"chars.guid"}, When: &rules.When{Column: "kind", Is: []string{"0"}}})
		}, verdict.CodeReferenceUndeclared, "sender"},
		{"the game's own data taken for keys", []string{"CREATE TABLE templates (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO templates VALUES (25), (26)", "CREATE TABLE things (template INTEGER)", "INSERT INTO things VALUES (25)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"templates.id"}})
		}, verdict.CodeReferenceUndeclared, "template"},
		{"a table that stays behind by its policy", []string{"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (5)", "CREATE TABLE mail (auction INTEGER)", "INSERT INTO mail VALUES (5)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
		}, verdict.CodeReferenceUndeclared, "auction"},
		{"a skipped table that a column names", []string{"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (5)", "CREATE TABLE mail (auction INTEGER)", "INSERT INTO mail VALUES (5)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
			d.References = append(d.References, ref("mail.auction", "auction.id"))
		}, verdict.CodeReferenceRebind, "stay behind"},
		{"a table that is not the same", []string{"CREATE TABLE templates (id INTEGER NOT NULL PRIMARY KEY, price INTEGER)", "INSERT INTO templates VALUES (1, %d)"}, func(o *rules.Options, d *rules.Declarations) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"templates"}, Policy: rules.PolicySame}}
			d.Plain = append(d.Plain, "templates.price")
		}, verdict.CodeTableDiffers, "not those of w0"},
		{"a key of the game's own data that nothing tells apart", []string{"CREATE TABLE bag (owner INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (owner, slot))", "INSERT INTO bag VALUES (0, 1)"}, func(o *rules.Options, d *rules.Declarations) {
			d.Shared = append(d.Shared, "bag.slot")
			d.References = append(d.References, ref("bag.owner", "chars.guid", "0"))
		}, verdict.CodeKeyCollision, "more than once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := worldtest.OnSQLite(t)
			all := worldtest.KeyWorlds(t, e, 2, tt.further...)
			into := e.Fresh(t, "new")
			p := worldtest.Planned(t, into, all, worldtest.KeyOptions(tt.more))
			worldtest.RefusedWith(t, p, tt.code, tt.subject)
			_, err := build.Apply(t.Context(), p, into, all, job.Options{})
			worldtest.RefusedBecause(t, "apply", "", err)
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
				t.Errorf("the new database was made: %v", err)
			}
		})
	}
}

// What cannot be declared is an error that names it.
func TestRekeyContradictions(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER, twice INTEGER GENERATED ALWAYS AS (owner * 2) VIRTUAL, name TEXT)")
	space := func(name string, keys ...string) rules.Space { return rules.Space{Name: name, Keys: keys} }
	for _, tt := range []struct {
		name string
		more func(o *rules.Options, d *rules.Declarations)
		want string
	}{
		{"a key of two spaces", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, space("more", "chars.guid"))
		}, `chars.guid is also a key of the space "chars.guid"`},
		{"several keys without a name", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = []rules.Space{space("", "chars.guid", "items.id")}
		}, "no name and 2 keys"},
		{"two spaces of one name", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = []rules.Space{space("x", "chars.guid"), space("x", "items.id")}
		}, `two spaces named "x"`},
		{"a pattern", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = []rules.Space{space("x", "*.guid")}
		}, "is a pattern"},
		{"no such column", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = []rules.Space{space("x", "chars.id")}
		}, "chars.id"},
		{"a text", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, space("x", "pets.name"))
		}, "only integers"},
		{"generated", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = append(o.Rekey.Spaces, space("x", "pets.twice"))
		}, "generated"},
		{"shared, and a key of a space", func(o *rules.Options, d *rules.Declarations) { d.Shared = append(d.Shared, "chars.guid") }, "also declared by shared"},
		{"the same everywhere, and a key of a space", func(o *rules.Options, d *rules.Declarations) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"chars"}, Policy: rules.PolicySame}}
		}, "the same in every world"},
		{"the same everywhere, with a reference", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces = o.Rekey.Spaces[:1]
			o.Tables = []rules.TablePolicy{{Tables: []string{"items"}, Policy: rules.PolicySame}}
		}, "the same in every world"},
		{"an offset for no world", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces[0].Offsets = map[string]uint64{"w9": 1}
		}, "no world is named"},
		{"an offset for the first world", func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Spaces[0].Offsets = map[string]uint64{"w0": 1}
		}, "no world is named"},
		{"a reference to a space that is none", func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"space:parties"}})
		}, "no space has that name"},
		{"a malformed value that means nobody", func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}, None: []string{"<x"}})
		}, "none has"},
		{"a malformed value that leads nowhere", func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}, Dangling: []string{"<x"}})
		}, "dangling has"},
		{"two kinds without a condition", func(o *rules.Options, d *rules.Declarations) {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"items.owner"}, To: []string{"items.id"}})
		}, "both may cover the same row"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, worldtest.KeyOptions(tt.more))
			if !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A table beside another, by the same number and without a foreign key, goes along also
// if nobody says what it is: a source has one offset for all its keys.
func TestRekeyOneToOneUndeclared(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 3, "CREATE TABLE stats (guid INTEGER NOT NULL PRIMARY KEY, hp INTEGER NOT NULL, tag VARCHAR(20) NOT NULL)",
		"INSERT INTO stats VALUES (1, 100001, 'w%d c1'), (3, 100003, 'w%d c3')")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"stats.guid"}})
	})
	_, into := worldtest.Rekeyed(t, e, all, opts)
	worldtest.Asked(t, into, "SELECT s.tag, c.tag FROM stats AS s LEFT JOIN chars AS c ON s.guid = c.guid ORDER BY s.guid",
		"w0 c1|w0 c1", "w0 c3|w0 c3", "w1 c1|w1 c1", "w1 c3|w1 c3", "w2 c1|w2 c1", "w2 c3|w2 c3")
}

// If a space needs an offset of its own, a key that nobody named may not be one beside it.
func TestRekeyOneToOneGuessed(t *testing.T) {
	e := worldtest.OnSQLite(t)
	counter := "INTEGER NOT NULL PRIMARY KEY"
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE stats (guid "+counter+", tag VARCHAR(20) NOT NULL)", "INSERT INTO stats VALUES (1, 'c1'), (3, 'c3')")
	worldtest.Exec(t, all[0], "INSERT INTO items VALUES (300000, 1, 'x')")
	narrow := func(more func(o *rules.Options, d *rules.Declarations)) planner.PlanOptions {
		return worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			o.Rekey.Auto, o.Rekey.Spaces[0].Max = true, 50
			more(o, d)
		})
	}
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, narrow(func(o *rules.Options, d *rules.Declarations) {}))
	if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Code != verdict.CodeKeyUndeclared || p.Refusals[0].Table != "stats" {
		t.Fatalf("refused for %v, %v", p.Refusals, err)
	}
	_, into := worldtest.Rekeyed(t, e, all, narrow(func(o *rules.Options, d *rules.Declarations) {
		d.References = append(d.References, rules.DeclaredReference{At: []string{"stats.guid"}, To: []string{"chars.guid"}})
	}))
	worldtest.Asked(t, into, "SELECT guid, tag FROM stats ORDER BY guid", "1|c1", "3|c3", "4|c1", "6|c3")
}

// Owner 0 and spouse -1 mean nobody, and stay; owner 0 that is declared to lead nowhere
// goes on to lead nowhere.
func TestRekeyNobody(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER, spouse INTEGER, killer INTEGER)",
		"INSERT INTO pets VALUES (1, 0, -1, 0), (2, 2, 3, 2), (3, 0, 9, NULL)")
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.id"}})
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}, None: []string{"0"}},
			rules.DeclaredReference{At: []string{"pets.spouse"}, To: []string{"chars.guid"}, None: []string{"-1"}},
			rules.DeclaredReference{At: []string{"pets.killer"}, To: []string{"chars.guid"}, Dangling: []string{"0"}})
	}))
	worldtest.Asked(t, into, "SELECT id, owner, spouse, killer FROM pets ORDER BY id",
		"1|0|-1|0", "2|2|3|2", "3|0|9|<nil>", "1001|0|-1|1000", "1002|1002|1003|1002", "1003|0|1009|<nil>")
}

// A column names rows of several kinds, by a type; a mail of another type has a sender
// that is no character, and stays.
func TestRekeyMessageType(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, messageType INTEGER NOT NULL, sender INTEGER NOT NULL)",
		"INSERT INTO mail VALUES (1, 0, 2), (2, 5, 2), (3, 3, 2), (4, 0, 8)")
	when := func(to, is string) rules.DeclaredReference {
		return rules.DeclaredReference{At: []string{"mail.sender"}, To: []string{to}, When: &rules.When{Column: "messageType", Is: []string{is}}, Others: rules.OthersPlain}
	}
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
		o.Rekey.Spaces[1].Offsets = map[string]uint64{"w1": 70_000}
		d.Plain = append(d.Plain, "mail.messageType")
		d.References = append(d.References, when("chars.guid", "0"), when("items.id", "3"))
	}))
	worldtest.Asked(t, into, "SELECT messageType, sender FROM mail ORDER BY id", "0|2", "5|2", "3|2", "0|8", "0|1002", "5|2", "3|70002", "0|1008")
}

// Parties have no table: their numbers are a space of their own, which no key tells the
// range of.
func TestRekeyParties(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 3, "CREATE TABLE members (guid INTEGER NOT NULL PRIMARY KEY, party INTEGER NOT NULL)", "INSERT INTO members VALUES (1, 1), (2, 1), (3, 4000)")
	p, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Name: "parties"})
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"members.guid"}, To: []string{"chars.guid"}},
			rules.DeclaredReference{At: []string{"members.party"}, To: []string{"space:parties"}})
	}))
	worldtest.Asked(t, into, "SELECT guid, party FROM members ORDER BY guid", "1|1", "2|1", "3|4000", "10001|10001", "10002|10001", "10003|14000", "20001|20001", "20002|20001", "20003|24000")
	worldtest.Exec(t, into, "UPDATE members SET party = 20001 WHERE guid = 10001")
	proof := worldtest.Verified(t, p, into, all)
	if proof.Verdict != verdict.Fail || proof.Keys[2].Part != evidence.PartImages || proof.Keys[2].Verdict != verdict.Fail {
		t.Errorf("%+v", proof.Keys)
	}
}

// A game that goes on makes keys above all, and may fill gaps between keys that came.
// They came by no merge.
func TestRekeyGameGoesOn(t *testing.T) {
	e := worldtest.OnSQLite(t)
	counter := "CREATE TABLE guilds (id INTEGER PRIMARY KEY AUTOINCREMENT, leader INTEGER NOT NULL, FOREIGN KEY (leader) REFERENCES chars (guid))"
	all := worldtest.KeyWorlds(t, e, 2, counter, "INSERT INTO guilds VALUES (1, 1), (2, 2), (9, 3)")
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) { o.Rekey.Auto = true }))
	worldtest.Exec(t, into, "INSERT INTO guilds (leader) VALUES (1)", "INSERT INTO guilds VALUES (1005, 2)", "INSERT INTO chars VALUES (1007, 'later')")
	worldtest.Asked(t, into, "SELECT id, leader FROM guilds ORDER BY id", "1|1", "2|2", "9|3", "1001|1001", "1002|1002", "1005|2", "1009|1003", "2000|1")
	for key, want := range map[string]int{"1": 0, "9": 0, "1001": 1, "1002": 1, "1005": 0, "1009": 1, "2000": 0} {
		way, err := record.Whois(t.Context(), into, "guilds", integer(key))
		if err != nil || len(way) != want || want > 0 && (way[0].Source != "w1" || way[0].Old.String() != strings.TrimLeft(key, "10") && key != "1001") {
			t.Errorf("whois %s: %+v, %v", key, way, err)
		}
	}
	for key, want := range map[string]string{"1": "1001", "9": "1009", "5": ""} {
		way, err := record.Whereis(t.Context(), into, "w1", "guilds", integer(key))
		if err != nil || (want == "") != (len(way) == 0) || want != "" && way[0].New.String() != want {
			t.Errorf("whereis %s: %+v, %v", key, way, err)
		}
	}
}

// A key of a number that means nobody in some rows, beside a number of the game's own
// data, tells the worlds apart, and nothing is open: rows are named by their owner.
func TestRekeyOwnerOfKeyMayBeNobody(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE bag (owner INTEGER NOT NULL, slot INTEGER NOT NULL, tag VARCHAR(20) NOT NULL, PRIMARY KEY (owner, slot))",
		"INSERT INTO bag VALUES (0, %d, 'nobody'), (1, 1, 'c1'), (3, 1, 'c3')")
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		d.Shared = append(d.Shared, "bag.slot")
		d.References = append(d.References, rules.DeclaredReference{At: []string{"bag.owner"}, To: []string{"chars.guid"}, None: []string{"0"}})
	}))
	worldtest.Asked(t, into, "SELECT owner, slot, tag FROM bag ORDER BY owner, slot", "0|0|nobody", "0|1|nobody", "1|1|c1", "3|1|c3", "1001|1|c1", "1003|1|c3")
}

// If no key collides, all stay as they are. What is declared of them counts all the same:
// the proof follows references to numbers without a table, and knows that what leads
// nowhere may.
func TestRekeyNothingCollides(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, party INTEGER NOT NULL)",
		"CREATE TABLE notes (kind INTEGER NOT NULL, about INTEGER NOT NULL)", "INSERT INTO notes VALUES (1, 2), (2, 2)")
	worldtest.Exec(t, all[0], "INSERT INTO pets VALUES (1, 77, 1), (2, 3, 2)")
	worldtest.Exec(t, all[1], "UPDATE chars SET guid = guid + 1000", "UPDATE items SET id = id + 1000, owner = owner + 1000", "INSERT INTO pets VALUES (1001, 1088, 1007)", "UPDATE notes SET about = about + 1000")
	p, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.id"}}, rules.Space{Name: "parties"})
		d.Plain = append(d.Plain, "notes.kind")
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}},
			rules.DeclaredReference{At: []string{"pets.party"}, To: []string{"space:parties"}},
			rules.DeclaredReference{At: []string{"notes.about"}, To: []string{"chars.guid"}, When: &rules.When{Column: "kind", Is: []string{"1"}}, Others: rules.OthersPlain})
	}))
	if p.Rekey == nil || p.Rekey.Moves() {
		t.Errorf("%+v", p.Rekey)
	}
	worldtest.Asked(t, into, "SELECT id, owner, party FROM pets ORDER BY id", "1|77|1", "2|3|2", "1001|1088|1007")
	if way, err := record.Whois(t.Context(), into, "chars", integer("1002")); err != nil || len(way) != 1 || way[0].Source != "w1" || way[0].Old != way[0].New {
		t.Errorf("%+v, %v", way, err)
	}
}

// The first world's rows of a table of which others stay behind refer to its keys, too. What leads
// nowhere there does not come to lead to a row of another world.
func TestRekeyFirstRefersFromTableThatStays(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE log (guid INTEGER NOT NULL, party INTEGER NOT NULL)", "INSERT INTO log VALUES (1003, 5), (1, 5)",
		"CREATE TABLE members (guid INTEGER NOT NULL PRIMARY KEY, party INTEGER NOT NULL)", "INSERT INTO members VALUES (2, 2)")
	p, _ := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = []rules.TablePolicy{{Tables: []string{"log"}, Policy: rules.PolicySkip}}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Name: "parties"})
		d.References = append(d.References,
			rules.DeclaredReference{At: []string{"log.guid", "members.guid"}, To: []string{"chars.guid"}},
			rules.DeclaredReference{At: []string{"*.party"}, To: []string{"space:parties"}})
	}))
	if by := p.Rekey.Offset("chars.guid", "w1"); by != 2000 {
		t.Errorf("the offset is %d", by)
	}
}

// A narrow key has the room that its own numbers leave, whatever the other keys of its
// space count to.
func TestRekeyNarrowKeyOfSpace(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		if e.Name == "sqlite" {
			t.Skip("it has no narrow columns")
		}
		for _, keys := range [][]string{{"wide.id", "narrow.id"}, {"narrow.id", "wide.id"}} {
			all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE narrow (id SMALLINT NOT NULL PRIMARY KEY)", "INSERT INTO narrow VALUES (5), (6)", "CREATE TABLE wide (id BIGINT NOT NULL PRIMARY KEY)")
			worldtest.Exec(t, all[0], "INSERT INTO wide VALUES (7), (8)")
			worldtest.Exec(t, all[1], "INSERT INTO wide VALUES (7), (800000)")
			_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Name: "objects", Keys: keys})
			}))
			worldtest.Asked(t, into, "SELECT id FROM narrow ORDER BY id", "5", "6", "10005", "10006")
		}
	})
}

// A number that means nobody may lie among the new keys, if no value becomes it and the operator
// allows that: it stays, and the proof does not take it for a key that has moved.
func TestRekeyNobodyAmongNewKeys(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE pets (id INTEGER NOT NULL PRIMARY KEY, owner INTEGER NOT NULL)", "INSERT INTO pets VALUES (1, 1), (2, 1003), (3, 1)")
	options := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"pets.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{"pets.owner"}, To: []string{"chars.guid"}, None: []string{"1003"}})
	})
	refused, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options)
	if err != nil || len(refused.Refusals) != 1 || refused.Refusals[0].Code != verdict.CodeReferenceNone {
		t.Fatalf("%v, refused for %v", err, refused.Refusals)
	}
	options.Check.Allow = []string{verdict.CodeReferenceNone + ":pets.owner"}
	p, into := worldtest.Rekeyed(t, e, all, options)
	worldtest.Asked(t, into, "SELECT id, owner FROM pets ORDER BY id", "1|1", "2|1003", "3|1", "1001|1001", "1002|1003", "1003|1001")
	worldtest.Exec(t, into, "UPDATE pets SET owner = 1002 WHERE id = 1002")
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Keys[2].Verdict != verdict.Fail || proof.Keys[4].Verdict != verdict.Fail {
		t.Errorf("%+v", proof.Keys)
	}
}

// Keys of a space that stay as they are, in a column whose other rows move, are not taken
// for such that have moved.
func TestRekeySomeSpacesMove(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE guilds (id INTEGER NOT NULL PRIMARY KEY)", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER NOT NULL, sender INTEGER NOT NULL)")
	worldtest.Exec(t, all[0], "INSERT INTO guilds VALUES (1), (2)", "INSERT INTO mail VALUES (1, 0, 1), (2, 1, 2)")
	worldtest.Exec(t, all[1], "INSERT INTO guilds VALUES (40), (41)", "INSERT INTO mail VALUES (101, 0, 1), (102, 1, 40)")
	_, into := worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		zero := map[string]uint64{"w1": 0}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}, Offsets: zero}, rules.Space{Keys: []string{"guilds.id"}, Offsets: zero})
		d.Plain = append(d.Plain, "mail.kind")
		for i, to := range []string{"chars.guid", "guilds.id"} {
			d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.sender"}, To: []string{to}, When: &rules.When{Column: "kind", Is: []string{fmt.Sprint(i)}}})
		}
	}))
	worldtest.Asked(t, into, "SELECT id, kind, sender FROM mail ORDER BY id", "1|0|1", "2|1|2", "101|0|1001", "102|1|40")
}

// A merged database whose keys go up to the end of their column is proved all the same, if the
// operator allows that.
func TestRekeyNoRoomLeft(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		most, counter := "9223372036854775807", "INTEGER PRIMARY KEY AUTOINCREMENT"
		if e.Name != "sqlite" {
			most, counter = "32767", "SMALLINT NOT NULL PRIMARY KEY AUTO_INCREMENT"
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE ranks (id "+counter+")", "INSERT INTO ranks VALUES (1)", "CREATE TABLE pets (v SMALLINT)")
		worldtest.Exec(t, all[0], "CREATE TABLE t (id INTEGER)", "DROP TABLE t", "INSERT INTO ranks VALUES (2)")
		worldtest.Exec(t, all[1], "DELETE FROM ranks", "INSERT INTO ranks VALUES ("+most+")")
		options := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) { o.Rekey.Auto = true })
		refused, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options)
		if err != nil || len(refused.Refusals) != 1 || refused.Refusals[0].Code != verdict.CodeCounterFull {
			t.Fatalf("%v, refused for %v", err, refused.Refusals)
		}
		options.Check.Allow = append(options.Check.Allow, verdict.CodeCounterFull+":ranks")
		p, into := worldtest.Rekeyed(t, e, all, options)
		if by := p.Rekey.Offset("ranks.id", "w1"); by != 0 {
			t.Errorf("the offset is %d", by)
		}
		worldtest.Asked(t, into, "SELECT id FROM ranks ORDER BY id", "1", "2", most)
	})
}

// A column that names rows of several tables is refused if one of these stays behind.
func TestRekeyNamesSkippedAmongOthers(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO auction VALUES (5)", "CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, about INTEGER)", "INSERT INTO mail VALUES (1, 5), (2, 1)")
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = []rules.TablePolicy{{Tables: []string{"auction"}, Policy: rules.PolicySkip}}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"mail.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.about"}, To: []string{"chars.guid", "auction.id"}})
	}))
	worldtest.RefusedWith(t, p, verdict.CodeReferenceDangle, "refers to auction, whose rows stay behind")
}
