package check_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// oldWorld is a game that counts its keys from 1: heroes, things of heroes, and spells,
// which are the game's own.
func oldWorld(name string, heroes int) *mergetest.Database {
	number := func(name string) catalog.Column {
		return catalog.Column{Name: name, Type: "INT", Kind: catalog.KindInteger, Nullable: name == "spouse"}
	}
	db := &mergetest.Database{Label: name, Rows: make(map[string][]mergetest.Row)}
	counter := func(column string) *catalog.AutoIncrement {
		return &catalog.AutoIncrement{Column: column, Next: uint64(heroes + 1), Max: 1<<31 - 1}
	}
	db.Schema = catalog.Catalog{Engine: "memory", Now: now, Tables: []catalog.Table{
		{Name: "heroes", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("level"), number("spouse")}, AutoIncrement: counter("id")},
		{Name: "things", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("owner"), number("kind")}, AutoIncrement: counter("id")},
		{Name: "spells", Primary: []string{"hero", "spell"}, Columns: []catalog.Column{number("hero"), number("spell")}},
	}}
	for n := range int64(heroes) {
		db.Rows["heroes"] = append(db.Rows["heroes"], mergetest.Row{"id": n + 1, "level": n%5 + 1, "spouse": nil})
		db.Rows["things"] = append(db.Rows["things"], mergetest.Row{"id": n + 1, "owner": n + 1, "kind": int64(500 + n)})
		db.Rows["spells"] = append(db.Rows["spells"], mergetest.Row{"hero": n + 1, "spell": n%3 + 133})
	}
	return db
}

// oldWords say all of it.
func oldWords() rules.Options {
	return rules.Options{Rekey: &rules.Rekey{Auto: true}, Rules: []rules.Declarations{{
		Plain: []string{"heroes.level", "things.kind"}, Shared: []string{"spells.spell"},
		References: []rules.DeclaredReference{{At: []string{"things.owner", "spells.hero", "heroes.spouse"}, To: []string{"heroes.id"}}},
	}}}
}

// notPassed are the codes, tables and subjects of what did not pass.
func notPassed(r *verdict.Report) (all []string) {
	for _, result := range r.Results {
		if result.Verdict != verdict.Pass {
			all = append(all, strings.TrimSpace(fmt.Sprint(result.Code, " ", result.Table, " ", result.Subject)))
		}
	}
	return all
}

// What stands against new keys is named, each thing by itself, and what is declared
// does not.
func TestKeysGetNewValues(t *testing.T) {
	type change func(o *rules.Options, a, b *mergetest.Database)
	column := func(db *mergetest.Database, table, name string) *catalog.Column {
		t := &db.Schema.Tables[slices.IndexFunc(db.Schema.Tables, func(t catalog.Table) bool { return t.Name == table })]
		return &t.Columns[slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.Name == name })]
	}
	addTable := func(table catalog.Table, rows func(db *mergetest.Database) []mergetest.Row) change {
		return func(_ *rules.Options, a, b *mergetest.Database) {
			for _, db := range []*mergetest.Database{a, b} {
				db.Schema.Tables = append(db.Schema.Tables, table)
				db.Rows[table.Name] = rows(db)
			}
		}
	}
	seq := addTable(catalog.Table{Name: "seq", Primary: []string{"name"}, Columns: []catalog.Column{{Name: "name", Type: "TEXT", Kind: catalog.KindText, Collation: mergetest.Binary}, number("next")}},
		func(db *mergetest.Database) []mergetest.Row {
			return []mergetest.Row{{"name": "thing" + db.Label, "next": int64(len(db.Rows["things"]) + 1)}}
		})
	someOf := func(name, others string) change {
		return func(o *rules.Options, a, b *mergetest.Database) {
			seq(o, a, b)
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "things.id", When: &rules.When{Column: "name", Is: []string{name, "thingb"}}, Others: others}}
			if name == "others" {
				o.Rekey.Counters[0].When.Is = []string{name}
			}
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
		}
	}
	vars := func(who string) change {
		return func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "vars", Primary: []string{"hero"}, Columns: []catalog.Column{number("hero"), {Name: "who", Type: "VARCHAR(9)", Kind: catalog.KindText, Collation: mergetest.Binary}}},
				func(*mergetest.Database) []mergetest.Row { return []mergetest.Row{{"hero": int64(1), "who": who}} })(o, a, b)
			o.Rules[0].References[0].At = append(slices.Clone(o.Rules[0].References[0].At), "vars.hero", "vars.who")
		}
	}
	// Who cast it: a hero, or 500, the monsters.
	auras := func(key ...string) change {
		return func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "auras", Primary: key, Columns: []catalog.Column{number("hero"), number("caster")}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"hero": int64(1), "caster": int64(3)}, {"hero": int64(1), "caster": int64(500)}}
			})(o, a, b)
			o.Rules[0].References = append(o.Rules[0].References[:1:1], rules.DeclaredReference{At: []string{"auras.hero"}, To: []string{"heroes.id"}},
				rules.DeclaredReference{At: []string{"auras.caster"}, To: []string{"heroes.id"}, None: []string{"500"}})
		}
	}
	for name, c := range map[string]struct {
		change change
		want   []string
	}{
		"a key that moves in part, beside one that moves":   {auras("hero", "caster"), nil},
		"a key that moves in part, and then one that moves": {auras("caster", "hero"), nil},
		"a key that moves in part":                          {auras("caster"), []string{"key-collision auras caster"}},
		"all is declared":                                   {func(*rules.Options, *mergetest.Database, *mergetest.Database) {}, nil},
		"no new keys":                                       {func(o *rules.Options, _, _ *mergetest.Database) { o.Rekey = nil }, []string{"key-collision heroes id"}},
		"an undeclared column that names rows of its world": {func(o *rules.Options, _, _ *mergetest.Database) {
			o.Rules[0].Plain = []string{"things.kind"}
		}, []string{"reference-undeclared heroes level"}},
		"an undeclared column that names none":   {func(o *rules.Options, _, _ *mergetest.Database) { o.Rules[0].Plain = []string{"heroes.level"} }, nil},
		"a number in a key that nobody declared": {func(o *rules.Options, _, _ *mergetest.Database) { o.Rules[0].Shared = nil }, []string{"key-undeclared spells spell"}},
		"0 and -1": {func(_ *rules.Options, a, b *mergetest.Database) {
			b.Rows["things"][0]["owner"], b.Rows["heroes"][1]["spouse"] = int64(0), int64(-1)
		}, []string{"key-nobody heroes spouse", "key-nobody things owner"}},
		"0 and -1 are declared": {func(o *rules.Options, a, b *mergetest.Database) {
			b.Rows["things"][0]["owner"], b.Rows["heroes"][1]["spouse"] = int64(0), int64(-1)
			o.Rules[0].References[0].None = []string{"0"}
			o.Rules[0].References[0].Dangling = []string{"-1"}
		}, nil},
		"the largest of the type": {func(_ *rules.Options, a, b *mergetest.Database) {
			b.Rows["things"][0]["owner"] = int64(1<<31 - 1)
		}, []string{"key-space heroes heroes.id", "key-nobody things owner"}},
		"many that lead nowhere": {func(_ *rules.Options, a, b *mergetest.Database) {
			for n := range 12 {
				b.Rows["things"][n]["owner"] = int64(7777)
			}
		}, []string{"key-nobody things owner"}},
		"some that lead nowhere": {func(_ *rules.Options, a, b *mergetest.Database) {
			for n := range 9 {
				b.Rows["things"][n]["owner"] = int64(7777)
			}
		}, nil},
		"no room": {func(_ *rules.Options, a, b *mergetest.Database) {
			column(a, "heroes", "id").Type, column(b, "heroes", "id").Type = "TINYINT", "TINYINT"
		}, nil}, // an offset of 100 or 40 is enough
		"less room still": {func(_ *rules.Options, a, b *mergetest.Database) {
			for _, db := range []*mergetest.Database{a, b} {
				column(db, "heroes", "id").Type = "TINYINT"
				db.Rows["heroes"] = append(db.Rows["heroes"], mergetest.Row{"id": int64(100), "level": int64(9)})
			}
		}, []string{"key-space heroes heroes.id"}},
		"an offset in somebody's way": {func(o *rules.Options, _, _ *mergetest.Database) {
			o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.id"}, Offsets: map[string]uint64{"b": 7}}}
		}, []string{"key-space heroes heroes.id"}},
		"a counter in a row": {seq, []string{"key-counter seq next", "reference-undeclared seq next"}},
		"a counter that is declared": {func(o *rules.Options, a, b *mergetest.Database) {
			seq(o, a, b)
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "things.id"}}
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
		}, nil},
		"a counter of other rows":                   {someOf("others", ""), []string{"key-counter seq next"}},
		"a counter of other rows, and no other one": {someOf("others", rules.OthersPlain), nil},
		"a counter of these rows":                   {someOf("thinga", ""), nil},
		"a key that the database counts up, of a table that stays": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "notices", Primary: []string{"id"}, Columns: []catalog.Column{number("id")}, AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 1000, Max: 1<<31 - 1}},
				func(db *mergetest.Database) []mergetest.Row {
					return []mergetest.Row{{"id": int64(len(db.Rows["things"]) + 1)}}
				})(o, a, b)
			o.Tables = []rules.TablePolicy{{Tables: []string{"notices"}, Policy: rules.PolicySkip}}
		}, nil},
		"a counter whose table is copied": {func(o *rules.Options, a, b *mergetest.Database) {
			seq(o, a, b)
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "things.id"}}
		}, []string{"key-counter seq next", "reference-undeclared seq next"}},
		"a counter whose table is emptied": {func(o *rules.Options, a, b *mergetest.Database) {
			seq(o, a, b)
			o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "things.id"}}
			o.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicyReset}}
		}, []string{"key-counter seq next"}},
		"a skipped table that a copied column names": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "auctions", Primary: []string{"id"}, Columns: []catalog.Column{number("id")}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"id": int64(505)}}
			})(o, a, b)
			o.Tables = []rules.TablePolicy{{Tables: []string{"auctions"}, Policy: rules.PolicySkip}}
			o.Rules[0].Plain = []string{"heroes.level"}
		}, []string{"reference-undeclared things kind"}},
		"a number in a table that stays": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "diary", Columns: []catalog.Column{number("about")}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"about": int64(1003)}, {"about": int64(3)}, {"about": int64(1999)}}
			})(o, a, b)
			o.Tables = []rules.TablePolicy{{Tables: []string{"diary"}, Policy: rules.PolicySkip}}
		}, []string{"reference-undeclared diary about"}},
		"a number in a text of a table that stays": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "diary", Columns: []catalog.Column{{Name: "about", Type: "VARCHAR(20)", Kind: catalog.KindText}, {Name: "year", Type: "VARCHAR(20)", Kind: catalog.KindText}}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"about": "1003", "year": "01003"}, {"about": "a dragon", "year": "1003 BC"}}
			})(o, a, b)
			o.Tables = []rules.TablePolicy{{Tables: []string{"diary"}, Policy: rules.PolicySkip}}
		}, []string{"reference-undeclared diary about"}},
		"a number in a table that is emptied": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "diary", Columns: []catalog.Column{number("about")}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"about": int64(1003)}, {"about": int64(3)}, {"about": int64(1999)}}
			})(o, a, b)
			o.Tables = []rules.TablePolicy{{Tables: []string{"diary"}, Policy: rules.PolicyReset}}
		}, nil},
		"things without a table": {func(o *rules.Options, a, b *mergetest.Database) {
			addTable(catalog.Table{Name: "members", Primary: []string{"hero"}, Columns: []catalog.Column{number("hero"), number("party")}}, func(*mergetest.Database) []mergetest.Row {
				return []mergetest.Row{{"hero": int64(1), "party": int64(9)}, {"hero": int64(2), "party": int64(9)}}
			})(o, a, b)
			o.Rekey.Spaces = []rules.Space{{Name: "parties"}}
			o.Rules[0].References = append(o.Rules[0].References[:1:1], rules.DeclaredReference{At: []string{"members.party"}, To: []string{"space:parties"}},
				rules.DeclaredReference{At: []string{"members.hero"}, To: []string{"heroes.id"}})
		}, nil},
		"digits in a text": {vars("7"), nil},
		"digits in a text that is too short": {func(o *rules.Options, a, b *mergetest.Database) {
			vars("7")(o, a, b)
			for _, db := range []*mergetest.Database{a, b} {
				column(db, "vars", "who").Type = "VARCHAR(1)"
			}
		}, []string{"key-space heroes heroes.id"}},
		"a text that is no number": {vars("7th"), []string{"key-space vars who"}},
		"a condition on a key": {func(_ *rules.Options, a, b *mergetest.Database) {
			a.Schema.Tables[0].Conditions = []catalog.Condition{{Kind: catalog.ConditionCheck, Name: "few", Text: "id < 500", Columns: []string{"id"}}}
			b.Holds = map[string]func(mergetest.Row) bool{"id < 500": func(r mergetest.Row) bool { return r["id"].(int64) < 500 }}
		}, []string{"refused-check heroes few"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, o := oldWorld("a", 30), oldWorld("b", 25), oldWords()
			c.change(&o, a, b)
			r := mustCheck(t, o, a, b)
			got := notPassed(r)
			if o.Rekey == nil {
				got = got[:min(len(c.want), len(got))]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Where keys cannot get new values nothing else is judged, and nothing passes.
func TestNoRoomNeverPasses(t *testing.T) {
	a, b, o := oldWorld("a", 30), oldWorld("b", 25), oldWords()
	o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.id"}, Offsets: map[string]uint64{"b": 7}}}
	o.Allow = []string{verdict.CodeKeySpace}
	if r := mustCheck(t, o, a, b); r.Verdict != verdict.Fail {
		t.Errorf("%s: %q", r.Verdict, notPassed(r))
	}
}

// What cannot be is said by name.
func TestSpacesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(o *rules.Options){
		`space 1: it has no name and 2 keys`: func(o *rules.Options) { o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.id", "things.id"}}} },
		`space 1 in rules.toml:7: "nothing.id": no world has a table that matches nothing`: func(o *rules.Options) {
			o.Rekey.Spaces = []rules.Space{{Keys: []string{"nothing.id"}, File: "rules.toml", Line: 7}}
		},
		`name 1 in rules.toml:9: no world has a table "nothing"`: func(o *rules.Options) {
			o.Renames = []rules.RenamedColumn{{Table: "nothing", Column: "name", File: "rules.toml", Line: 9}}
		},
		`reference 1 in rules.toml:5: when: "npc" is not an integer, but column "kind" of table "things" is `: func(o *rules.Options) {
			o.Rules = []rules.Declarations{{File: "rules.toml", References: []rules.DeclaredReference{{At: []string{"things.owner"}, To: []string{"heroes.id"}, When: &rules.When{Column: "kind", Is: []string{"1", "npc"}}, Line: 5}}}}
		},
		`counter 1 in rules.toml:6: when: "npc" is not an integer`: func(o *rules.Options) {
			o.Rekey.Counters = []rules.CounterRow{{At: "things.kind", Space: "heroes.id", When: &rules.When{Column: "id", Not: []string{"npc"}}, File: "rules.toml", Line: 6}}
		},
		`table 1 in rules.toml:8: when: "npc" is not an integer`: func(o *rules.Options) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"thing*"}, Policy: rules.PolicyCombine, When: &rules.When{Column: "kind", Is: []string{"npc"}}, File: "rules.toml", Line: 8}}
		},
		`table 1 in rules.toml:8: when is used with the policy "skip"`: func(o *rules.Options) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"things"}, Policy: rules.PolicySkip, When: &rules.When{Column: "kind", Is: []string{"1"}}, File: "rules.toml", Line: 8}}
		},
		`reference 1 in rules.toml:5: none has "abc", but things.owner is `: func(o *rules.Options) {
			o.Rules = []rules.Declarations{{File: "rules.toml", References: []rules.DeclaredReference{{At: []string{"things.owner"}, To: []string{"heroes.id"}, None: []string{"0", "<9", "abc"}, Line: 5}}}}
		},
		`two spaces named "x"`: func(o *rules.Options) { o.Rekey.Spaces = []rules.Space{{Name: "x"}, {Name: "x"}} },
		`heroes.id is also a key of the space "x"`: func(o *rules.Options) {
			o.Rekey.Spaces = []rules.Space{{Name: "x", Keys: []string{"heroes.id"}}, {Keys: []string{"heroes.id"}}}
		},
		`no world is named "c"`: func(o *rules.Options) {
			o.Rekey.Spaces = []rules.Space{{Name: "x", Offsets: map[string]uint64{"c": 1}}}
		},
		`"heroes.*" is a pattern`:                               func(o *rules.Options) { o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.*"}}} },
		`no space has that name`:                                func(o *rules.Options) { o.Rules[0].References[0].To = []string{"space:x"} },
		`heroes.level is also declared by plain "heroes.level"`: func(o *rules.Options) { o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.level"}}} },
		`the table heroes is declared the same in every world`: func(o *rules.Options) {
			o.Tables = []rules.TablePolicy{{Tables: []string{"heroes"}, Policy: rules.PolicySame}}
			o.Rekey.Spaces = []rules.Space{{Keys: []string{"heroes.id"}}}
		},
		`there is no space "x", and no space has that key`: func(o *rules.Options) { o.Rekey.Counters = []rules.CounterRow{{At: "things.kind", Space: "x"}} },
		`things.owner gets new values itself`: func(o *rules.Options) {
			o.Rekey.Counters = []rules.CounterRow{{At: "things.owner", Space: "heroes.id"}}
		},
		`things.id would get the new values of both "things.id" and "heroes.id"`: func(o *rules.Options) {
			o.Rekey.Spaces = []rules.Space{{Keys: []string{"things.id"}}}
			o.Rules[0].References = append(o.Rules[0].References, rules.DeclaredReference{At: []string{"things.id"}, To: []string{"heroes.id"}})
		},
	} {
		o := oldWords()
		change(&o)
		_, err := merge.Check(t.Context(), sources(oldWorld("a", 3), oldWorld("b", 3)), o)
		if !errors.Is(err, rules.ErrOptions) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The offsets are one number for all spaces, unless one has no room for it.
func TestOneOffsetForAllSpaces(t *testing.T) {
	a, b, c := oldWorld("a", 30), oldWorld("b", 25), oldWorld("c", 20)
	for _, db := range []*mergetest.Database{a, b, c} {
		db.Rows["things"] = append(db.Rows["things"], mergetest.Row{"id": int64(40_000), "owner": int64(1), "kind": int64(7)})
	}
	offsets := func() map[string]string {
		all := make(map[string]string)
		for _, s := range mustCheck(t, oldWords(), a, b, c).Rekeyed.Spaces {
			all[s.Name] = fmt.Sprint(s.Worlds[1].Offset, " ", s.Worlds[2].Offset, " ", s.Own)
		}
		return all
	}
	if got, want := offsets(), map[string]string{"heroes.id": "100000 200000 false", "things.id": "100000 200000 false"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, db := range []*mergetest.Database{a, b, c} {
		db.Schema.Tables[0].Columns[0].Type = "SMALLINT"
	}
	if got, want := offsets(), map[string]string{"heroes.id": "100 200 true", "things.id": "100000 200000 false"}; !maps.Equal(got, want) {
		t.Errorf("with a narrow column %v, want %v", got, want)
	}
}
