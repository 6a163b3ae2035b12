package check_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
)

// eventful is a world of heroes, of which one in eight was deleted, and a log of what happened to them. of says what
// hero2 of an event is, by the kind of the event, a living hero, and one of three who were deleted.
func eventful(label string, seed uint64, of func(rnd *rand.Rand, etype int, hero, gone int64) int64) *mergetest.Database {
	rnd := rand.New(rand.NewPCG(seed, 1))
	integer := func(name, kind string) catalog.Column {
		return catalog.Column{Name: name, Kind: catalog.KindInteger, Type: kind}
	}
	db := &mergetest.Database{Label: label, Rows: make(map[string][]mergetest.Row)}
	db.Schema.Engine = "mariadb"
	db.Schema.Tables = []catalog.Table{
		{Name: "heroes", Primary: []string{"id"}, AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 601}, Columns: []catalog.Column{integer("id", "int")}},
		{Name: "guild_log", Primary: []string{"n"}, AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 1501},
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
		hero := of(rnd, etype, alive[rnd.IntN(len(alive))], gone[rnd.IntN(3)])
		db.Rows["guild_log"] = append(db.Rows["guild_log"], mergetest.Row{"n": n, "etype": int64(etype), "server": int64(rnd.IntN(3)), "hero2": hero})
	}
	return db
}

// heroesBut are heroes in all events but those of one kind.
func heroesBut(other func(rnd *rand.Rand) int64) func(*rand.Rand, int, int64, int64) int64 {
	return func(rnd *rand.Rand, etype int, hero, _ int64) int64 {
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
	of   func(*rand.Rand, int, int64, int64) int64
	two  bool
}{
	{"a rank", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(10) }), true},
	{"a guild", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(250) }), true},
	{"an item, of which there are more than heroes", heroesBut(func(rnd *rand.Rand) int64 { return 1 + rnd.Int64N(1200) }), true},
	{"a hero", func(rnd *rand.Rand, _ int, hero, _ int64) int64 { return hero }, false},
	{"a hero, some of them gone", func(rnd *rand.Rand, _ int, hero, _ int64) int64 {
		if rnd.IntN(10) == 0 {
			return 1 + rnd.Int64N(600)
		}
		return hero
	}, false},
	{"three heroes who are gone, with many rows", func(rnd *rand.Rand, etype int, hero, gone int64) int64 {
		if etype == 4 && rnd.IntN(3) == 0 {
			return gone
		}
		return hero
	}, false},
	{"numbers that are keys in no world", func(rnd *rand.Rand, etype int, hero, _ int64) int64 {
		if etype == 4 && rnd.IntN(4) == 0 {
			return 1_000_000 + rnd.Int64N(40)
		}
		return hero
	}, false},
}

// A column that names heroes in most rows, and something else in others, is left to a person, and the proposal says in which rows it
// names a hero. Declared for all rows it is NOT VERIFIED; with when it is not.
func TestTwoKinds(t *testing.T) {
	for _, c := range otherKinds {
		for _, rekeyed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, rekeyed %t", c.name, rekeyed), func(t *testing.T) {
				a, b := eventful("a", 1, c.of), eventful("b", 2, c.of)
				opts := declare.Options{Propose: true}
				if rekeyed {
					opts.Rekey = &declare.Rekey{}
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
				var file strings.Builder
				if err := propose.WriteRules(r, &file); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(file.String(), "when = { column = \"etype\", is = [1, 2, 3, 5] }\n") != c.two {
					t.Errorf("the file:\n%s", file.String())
				}
				opts.Propose = false
				hero := declare.DeclaredReference{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}}
				judged := func(allow ...string) (found *verdict.Result) {
					opts := opts
					opts.Rules = []declare.Declarations{{References: []declare.DeclaredReference{hero}, Plain: []string{"guild_log.etype", "guild_log.server"}}}
					opts.Allow = allow
					for _, r := range mustCheck(t, opts, a, b).Results {
						if r.Code == verdict.CodeReferenceTwoKinds {
							found = &r
						}
					}
					return found
				}
				switch r := judged(); {
				case !c.two && r != nil:
					t.Errorf("%+v", r)
				case c.two && (r == nil || r.Verdict != verdict.NotVerified || !strings.Contains(r.Message, "where etype is 4, it seems to name something else")):
					t.Errorf("%+v", r)
				}
				if r := judged(verdict.CodeReferenceTwoKinds + ":guild_log.hero2"); c.two && (r == nil || r.CountsAs != verdict.Pass) {
					t.Errorf("allowed: %+v", r)
				}
				hero.When, hero.Others = &declare.When{Column: "etype", Is: []string{"1", "2", "3", "5"}}, declare.OthersPlain
				if r := judged(); r != nil {
					t.Errorf("with when: %+v", r)
				}
			})
		}
	}
}

// Columns that are called plain, natural or shared, or plain in the rows without a reference, and hold keys, are listed with those
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
	said := declare.Declarations{
		Plain: []string{"guild_log.etype", "guild_log.server", "guild_log.victim_id"}, Natural: []string{"guild_log.bonus"}, Shared: []string{"guild_log.ware_id"},
		References: []declare.DeclaredReference{
			{At: []string{"guild_log.hero2"}, To: []string{"heroes.id"}},
			{At: []string{"guild_log.amount"}, To: []string{"heroes.id"}, When: &declare.When{Column: "etype", Is: []string{"4"}}, Others: declare.OthersPlain},
		},
	}
	opts := declare.Options{Rekey: &declare.Rekey{Auto: true}, Rules: []declare.Declarations{said}}
	r := mustCheck(t, opts, a, b)
	want := []string{"guild_log.victim_id", "guild_log.ware_id", "guild_log.amount", "guild_log.bonus", "guild_log.etype", "guild_log.server"}
	if r.Verdict != verdict.Pass || !slices.Equal(r.PlainOpen, want) || r.Plain != len(want) {
		t.Errorf("%s, %q, want %q", r.Verdict, r.PlainOpen, want)
	}
	a.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
		if !slices.Contains(scan.Carry, "bonus") {
			return seq
		}
		return func(yield func(*catalog.Batch, error) bool) {
			yield(nil, &catalog.UnsupportedError{Table: "guild_log", Column: "bonus", Reason: "a value is not a number"})
		}
	}
	if r := mustCheck(t, opts, a, b); r.Verdict != verdict.Pass || r.Plain != len(want) {
		t.Errorf("%s with %q", r.Verdict, r.PlainOpen)
	}
}

// What the database counts up is a key, also if two worlds have the same numbers, with the same gaps.
func TestCountedKeysAreKeys(t *testing.T) {
	a, b := eventful("a", 1, otherKinds[3].of), eventful("b", 1, otherKinds[3].of)
	for _, p := range mustCheck(t, declare.Options{Propose: true}, a, b).Proposed.Columns {
		switch {
		case p.Table == "heroes" && p.Class != verdict.ClassKey,
			p.Column == "hero2" && (p.Class != verdict.ClassReference || p.To != "heroes.id"):
			t.Errorf("%+v", p)
		}
	}
}
