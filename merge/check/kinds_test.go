package check_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// eventful is a world of heroes, of which one in eight was deleted, and a log of what happened to them. of says what
// hero2 of an event is, by the kind of the event, a living hero, and those who were deleted.
func eventful(label string, seed uint64, of func(rnd *rand.Rand, etype int, hero int64, gone []int64) int64) *mergetest.Database {
	rnd := rand.New(rand.NewPCG(seed, 1))
	integer := func(name, kind string) catalog.Column {
		return catalog.Column{Name: name, Kind: catalog.KindInteger, Type: kind}
	}
	db := &mergetest.Database{Label: label, Rows: make(map[string][]mergetest.Row)}
	db.Schema.Engine = "mariadb"
	db.Schema.Tables = []catalog.Table{
		{Name: "heroes", Primary: []string{"id"}, AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 601, Max: 1<<31 - 1}, Columns: []catalog.Column{integer("id", "int")}},
		{Name: "guild_log", Primary: []string{"n"}, AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 1501, Max: 1<<31 - 1},
			Columns: []catalog.Column{integer("n", "int"), integer("etype", "tinyint"), integer("server", "tinyint"), integer("hero2", "int")}},
	}
	var alive, gone []int64
	for id := int64(1); id <= 600; id++ {
		if rnd.IntN(8) > 0 {
			alive = append(alive, id)
			db.Rows["heroes"] = append(db.Rows["heroes"], mergetest.Row{"id": id})
		} else if id > 300 {
			gone = append(gone, id)
		}
	}
	for n := int64(1); n <= 1500; n++ {
		etype := 1 + rnd.IntN(5)
		hero := of(rnd, etype, alive[rnd.IntN(len(alive))], gone)
		db.Rows["guild_log"] = append(db.Rows["guild_log"], mergetest.Row{"n": n, "etype": int64(etype), "server": int64(rnd.IntN(3)), "hero2": hero})
	}
	return db
}

// heroesBut are heroes in all events but those of one kind.
func heroesBut(other func(rnd *rand.Rand) int64) func(*rand.Rand, int, int64, []int64) int64 {
	return func(rnd *rand.Rand, etype int, hero int64, _ []int64) int64 {
		switch {
		case etype == 4:
			return other(rnd)
		case rnd.IntN(50) == 0:
			return 1 + rnd.Int64N(600) // some are gone
		}
		return hero
	}
}

var otherKinds = []struct {
	name string
	of   func(*rand.Rand, int, int64, []int64) int64
	two  bool
}{
	{"a rank", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(10) }), true},
	{"a guild", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(250) }), true},
	{"an item, of which there are more than heroes", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(1200) }), true},
	{"a hero", func(rnd *rand.Rand, _ int, hero int64, _ []int64) int64 { return hero }, false},
	{"a hero, some of them gone", func(rnd *rand.Rand, _ int, hero int64, _ []int64) int64 {
		if rnd.IntN(10) == 0 {
			return 1 + rnd.Int64N(600)
		}
		return hero
	}, false},
	{"three heroes who are gone, with many rows", func(rnd *rand.Rand, etype int, hero int64, gone []int64) int64 {
		if etype == 4 && rnd.IntN(3) == 0 {
			return gone[rnd.IntN(3)]
		}
		return hero
	}, false},
	{"heroes many of whom are gone, in old events", func(rnd *rand.Rand, etype int, hero int64, gone []int64) int64 {
		if etype == 4 && rnd.IntN(5) < 2 {
			return gone[rnd.IntN(len(gone))]
		}
		return hero
	}, false},
	{"numbers that are keys in no world", func(rnd *rand.Rand, etype int, hero int64, _ []int64) int64 {
		if etype == 4 && rnd.IntN(4) == 0 {
			return 1_000_000 + rnd.Int64N(40)
		}
		return hero
	}, false},
}

// A column that names heroes in most rows, and something else in others, is left to a person, and the proposal says in which rows it
// names a hero. Declared for all rows it is NOT VERIFIED; with when it is not.
func TestTwoKinds(t *testing.T) {
	servertest.NotShort(t)
	for i, c := range otherKinds {
		for _, rekeyed := range []bool{false, true} {
			if rekeyed && (!c.two || i >= servertest.Scale(1, len(otherKinds))) {
				continue // new keys do not make one kind of two
			}
			t.Run(fmt.Sprintf("%s, rekeyed %t", c.name, rekeyed), func(t *testing.T) {
				a, b := eventful("a", 1, c.of), eventful("b", 2, c.of)
				opts := rules.Options{Propose: true}
				if rekeyed {
					opts.Rekey = &rules.Rekey{}
				}
				r := mustCheck(t, opts, a, b)
				for _, p := range r.Proposed.Columns {
					if p.Table != "guild_log" || p.Column != "hero2" {
						continue
					}
					if two := p.When != nil; two != c.two || two && p.When.String() != "etype is 1, 2, 3, 5" || !two && p.Class != verdict.ClassReference {
						t.Errorf("%+v", p)
					}
				}
				file := writtenRules(t, r)
				if strings.Contains(file, "when = { column = \"etype\", is = [1, 2, 3, 5] }\n") != c.two {
					t.Errorf("the file:\n%s", file)
				}
				opts.Propose = false
				hero := rules.DeclaredReference{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}}
				judged := func(allow ...string) (found *verdict.Result) {
					opts := opts
					opts.Rules = []rules.Declarations{{References: []rules.DeclaredReference{hero}, Plain: []string{"guild_log.etype", "guild_log.server"}}}
					opts.Allow = allow
					all := mustCheck(t, opts, a, b).Results
					for _, r := range all {
						if r.Code == verdict.CodeReferenceTwoKinds {
							found = &r
						}
					}
					if allow != nil {
						return found
					}
					if looked, err := checkLookingFirst(t.Context(), []catalog.Source{a, b}, opts, 100); err != nil || !reflect.DeepEqual(looked.Results, all) {
						t.Errorf("looking at some rows first it says %+v, %v, want %+v", looked, err, all)
					}
					return found
				}
				switch r := judged(); {
				case !c.two && r != nil:
					t.Errorf("%+v", r)
				case c.two && (r == nil || r.Verdict != verdict.NotVerified || !strings.Contains(r.Message, "if etype is 4, it seems to name something else")):
					t.Errorf("%+v", r)
				}
				if c.two {
					if r := judged(verdict.CodeReferenceTwoKinds + ":guild_log.hero2"); r == nil || !r.Allowed {
						t.Errorf("allowed: %+v", r)
					}
				}
				hero.When, hero.Others = &rules.When{Column: "etype", Is: []string{"1", "2", "3", "5"}}, rules.OthersPlain
				if r := judged(); r != nil {
					t.Errorf("with when: %+v", r)
				}
			})
		}
	}
}

// withItems adds items to a world of which half are gone, and numbers of heroes and what else hero2 is in texts and further columns.
func withItems(db *mergetest.Database, seed uint64, more ...string) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "items", Primary: []string{"id"}, AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 9000, Max: 1<<31 - 1},
		Columns: []catalog.Column{{Name: "id", Kind: catalog.KindInteger, Type: "int"}}})
	for id := int64(5001); id <= 7000; id++ {
		if rnd.IntN(2) == 0 {
			db.Rows["items"] = append(db.Rows["items"], mergetest.Row{"id": id})
		}
	}
	log := &db.Schema.Tables[1]
	log.Columns = append(log.Columns, catalog.Column{Name: "note", Kind: catalog.KindText, Type: "text"})
	for _, name := range more {
		log.Columns = append(log.Columns, catalog.Column{Name: name, Kind: catalog.KindInteger, Type: "int"})
	}
	for _, row := range db.Rows["guild_log"] {
		row["note"] = fmt.Sprintf("%d met %d", row["hero2"], rnd.IntN(1000))
		for _, name := range more {
			row[name] = row["hero2"]
		}
	}
}

// declared checks two worlds in which references are declared for all rows, and returns what is found of two kinds, by column.
func declared(t *testing.T, a, b catalog.Source, refs ...rules.DeclaredReference) map[string]verdict.Result {
	t.Helper()
	opts := rules.Options{Rekey: &rules.Rekey{}, Rules: []rules.Declarations{{Plain: []string{"guild_log.etype", "guild_log.server"}, References: refs}}}
	r := checked(t, []catalog.Source{a, b}, opts)
	found := make(map[string]verdict.Result)
	for _, result := range r.Results {
		if result.Code == verdict.CodeReferenceTwoKinds {
			found[result.Columns[0]] = result
		}
	}
	return found
}

// The same for keys in texts: a hero in most notes, and in others a rank.
func TestTwoKindsInTexts(t *testing.T) {
	for _, c := range otherKinds {
		a, b := eventful("a", 1, c.of), eventful("b", 2, c.of)
		withItems(a, 1)
		withItems(b, 2)
		note := rules.DeclaredReference{At: []string{"guild_log.note"}, To: []string{"heroes.id"}, Format: "list sep=' ' pos=0"}
		if found := declared(t, a, b, note); (len(found) > 0) != c.two {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// Values without a match that are keys of no hero of another world, but of items of their own, are another kind; numbers
// that only lie among these keys are none.
func TestTwoKindsOfOneWorld(t *testing.T) {
	for _, isItem := range []bool{true, false} {
		var both []*mergetest.Database
		for seed := uint64(1); seed <= 2; seed++ {
			db := eventful(fmt.Sprint("w", seed), seed, otherKinds[3].of)
			withItems(db, seed)
			rnd := rand.New(rand.NewPCG(seed, 3))
			for _, row := range db.Rows["guild_log"] {
				if items := db.Rows["items"]; row["etype"] == int64(4) && isItem {
					row["hero2"] = items[rnd.IntN(len(items))]["id"]
				} else if row["etype"] == int64(4) {
					row["hero2"] = 5001 + rnd.Int64N(2000)
				}
			}
			both = append(both, db)
		}
		found := declared(t, both[0], both[1], rules.DeclaredReference{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}})
		const other = `[[check.reference]] to = "items.id", at = ["guild_log.hero2"], when = { column = "etype", is = [4] }`
		if r := found["hero2"]; isItem && !slices.Contains(r.Next, other) || strings.Contains(strings.Join(r.Next, ""), rules.OthersPlain) {
			t.Errorf("what to do: %q, want %s", r.Next, other)
		}
		if r, ok := found["hero2"]; ok != isItem || ok && !strings.Contains(r.Message, "if etype is 4, it seems to name something else (perhaps items.id): ") {
			t.Errorf("items %t: %+v", isItem, found)
		}
	}
}

// One letter in twenty is from a guild, whose numbers are mostly those of heroes as well. There is a reference for each kind, and
// nobody is told that the others are plain: they would name another world's guild.
func TestTwoKindsOfLetters(t *testing.T) {
	var both []*mergetest.Database
	for seed := uint64(1); seed <= 2; seed++ {
		db := eventful(fmt.Sprint("w", seed), seed, otherKinds[3].of)
		withItems(db, seed)
		rnd := rand.New(rand.NewPCG(seed, 3))
		for _, row := range db.Rows["items"] { // they are guilds
			row["id"] = row["id"].(int64) - 5000
		}
		for _, row := range db.Rows["guild_log"] {
			if row["etype"] = int64(1); rnd.IntN(20) == 0 {
				row["etype"], row["hero2"] = int64(4), db.Rows["items"][rnd.IntN(400)]["id"]
			}
		}
		both = append(both, db)
	}
	report := mustCheck(t, rules.Options{Propose: true, Rekey: &rules.Rekey{}}, both...)
	file := writtenRules(t, report)
	const proposed = `  # [[check.reference]]
  # to = "heroes.id"
  # at = ["guild_log.hero2"]
  # when = { column = "etype", is = [1] }
  # [[check.reference]]
  # to = "items.id"
  # at = ["guild_log.hero2"]
  # when = { column = "etype", is = [4] }
  # these are all of its rows
`
	if !strings.Contains(file, proposed) {
		t.Errorf("want\n%sin\n%s", proposed, file)
	}
	for _, c := range report.Proposed.Columns {
		if c.Kinds == nil {
			continue
		}
		for _, g := range c.Kinds.Groups {
			if g.Value == "4" && (g.Names != "items.id" || len(g.Keys) == 0 || g.Keys[0].Key != "guild_log.n" && g.Keys[0].Key != "items.id" || g.Keys[0].Hits != g.Keys[0].Values) {
				t.Errorf("letters of guilds: %+v", g)
			}
		}
	}
}

// NULL in the column that tells kinds apart is a value like any other: for heroes, or for what is none.
func TestTwoKindsByNull(t *testing.T) {
	for want, null := range map[string]func(etype any) bool{
		"when = { column = \"etype\", not = [4] }":         func(etype any) bool { return etype != int64(4) },
		"when = { column = \"etype\", is = [1, 2, 3, 5] }": func(etype any) bool { return etype == int64(4) },
	} {
		a, b := eventful("a", 1, otherKinds[0].of), eventful("b", 2, otherKinds[0].of)
		for _, db := range []*mergetest.Database{a, b} {
			withItems(db, 1)
			for _, row := range db.Rows["guild_log"] {
				if null(row["etype"]) {
					row["etype"] = nil
				}
			}
		}
		found := declared(t, a, b, rules.DeclaredReference{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}})
		if next := strings.Join(found["hero2"].Next, " "); !strings.Contains(next, want) {
			t.Errorf("%q, want %s", next, want)
		}
		file := writtenRules(t, mustCheck(t, rules.Options{Propose: true, Rekey: &rules.Rekey{}}, a, b))
		if !strings.Contains(file, "  # "+want+"\n") {
			t.Errorf("want %s:\n%s", want, file)
		}
	}
}

// carrying counts the readings of all rows of a table that bring columns along.
type carrying struct {
	*mergetest.Database
	columns []string
	n       int
}

func (c *carrying) Scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	if scan.Most == 0 && !slices.ContainsFunc(c.columns, func(name string) bool { return !slices.Contains(scan.Carry, name) }) {
		c.n++
	}
	return c.Database.Scan(ctx, scan)
}

// All references of a table are told apart in one reading; what cannot be read does not keep the others from it.
func TestTwoKindsInOneReading(t *testing.T) {
	a, b := eventful("a", 1, otherKinds[0].of), eventful("b", 2, otherKinds[0].of)
	more := []string{"h3", "h4", "h5", "h6"}
	withItems(a, 1, more...)
	withItems(b, 2, more...)
	refs := []rules.DeclaredReference{{At: []string{"guild_log.hero2", "guild_log.h{3..6}"}, To: []string{"heroes.id"}}}
	noted := &carrying{Database: a, columns: append([]string{"hero2", "etype"}, more...)}
	if found := declared(t, noted, b, refs...); len(found) != 5 || noted.n != 1 {
		t.Errorf("%d references found in %d readings of the table, want 5 in 1", len(found), noted.n)
	}
	a.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		if !slices.Contains(scan.Carry, "server") {
			return seq
		}
		return failAfter(seq, 0, &catalog.UnsupportedError{Table: "guild_log", Column: "server", Reason: "a value is not a number"})
	}
	if found := declared(t, a, b, refs...); len(found) != 5 {
		t.Errorf("%d references found although server cannot be read, want 5", len(found))
	}
}

// If the first rows show that no column has few enough values to tell kinds apart, no more of them is read.
func TestTwoKindsLooksFirst(t *testing.T) {
	a, b := eventful("a", 1, otherKinds[0].of), eventful("b", 2, otherKinds[0].of)
	for want := 1; want >= 0; want-- {
		if want == 0 {
			for _, db := range []*mergetest.Database{a, b} {
				for i, row := range db.Rows["guild_log"] {
					row["etype"], row["server"] = int64(i%100), int64(i%90)
				}
			}
		}
		noted := &carrying{Database: a, columns: []string{"hero2", "etype", "server"}}
		opts := rules.Options{Rules: []rules.Declarations{{References: []rules.DeclaredReference{{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}}}, Plain: []string{"guild_log.etype", "guild_log.server"}}}}
		if _, err := checkLookingFirst(t.Context(), []catalog.Source{noted, b}, opts, 200); err != nil || noted.n != want {
			t.Errorf("all rows were read %d times, want %d (%v)", noted.n, want, err)
		}
	}
}

// Columns that are called plain or shared, or plain in the rows without a reference, and hold keys, are listed with those
// first whose names speak for a reference. The verdict is the same, also if such a column cannot be read.
func TestPlainWithKeysLikelyFirst(t *testing.T) {
	a, b := eventful("a", 1, otherKinds[3].of), eventful("b", 2, otherKinds[3].of)
	for _, db := range []*mergetest.Database{a, b} {
		log := &db.Schema.Tables[1]
		for _, name := range []string{"amount", "bonus", "ware_id", "victim_id"} {
			log.Columns = append(log.Columns, catalog.Column{Name: name, Kind: catalog.KindInteger, Type: "int"})
			for _, row := range db.Rows["guild_log"] {
				row[name] = row["hero2"]
			}
		}
	}
	said := rules.Declarations{
		Plain: []string{"guild_log.etype", "guild_log.server", "guild_log.victim_id"}, Shared: []string{"guild_log.bonus", "guild_log.ware_id"},
		References: []rules.DeclaredReference{
			{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}},
			{At: []string{"guild_log.amount"}, To: []string{"heroes.id"}, When: &rules.When{Column: "etype", Is: []string{"4"}}, Others: rules.OthersPlain},
		},
	}
	opts := rules.Options{Rekey: &rules.Rekey{Auto: true}, Rules: []rules.Declarations{said}}
	r := mustCheck(t, opts, a, b)
	want := []string{"guild_log.victim_id", "guild_log.ware_id", "guild_log.amount", "guild_log.bonus", "guild_log.etype", "guild_log.server"}
	if r.Verdict != verdict.Pass || !slices.Equal(r.PlainOpen, want) || r.Plain != len(want) {
		t.Errorf("%s, %q, want %q", r.Verdict, r.PlainOpen, want)
	}
	a.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		if !slices.Contains(scan.Carry, "bonus") {
			return seq
		}
		return failAfter(seq, 0, &catalog.UnsupportedError{Table: "guild_log", Column: "bonus", Reason: "a value is not a number"})
	}
	if r := mustCheck(t, opts, a, b); r.Verdict != verdict.Pass || r.Plain != len(want) {
		t.Errorf("%s with %q", r.Verdict, r.PlainOpen)
	}
}

// What the database counts up is a key, also if two worlds have the same numbers, with the same gaps.
func TestCountedKeysAreKeys(t *testing.T) {
	a, b := eventful("a", 1, otherKinds[3].of), eventful("b", 1, otherKinds[3].of)
	for _, p := range mustCheck(t, rules.Options{Propose: true}, a, b).Proposed.Columns {
		switch {
		case p.Table == "heroes" && p.Class != verdict.ClassKey,
			p.Column == "hero2" && (p.Class != verdict.ClassReference || p.To != "heroes.id"):
			t.Errorf("%+v", p)
		}
	}
}
