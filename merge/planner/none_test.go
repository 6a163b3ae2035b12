package planner_test

import (
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// Values that none says are no row, though rows have these keys, are NOT VERIFIED with the rows
// counted, whatever the form of the reference; the plan is refused until the operator allows it
// for the column. Values that are no key are no matter, and neither are keys that no row names.
func TestNoneCoversKeys(t *testing.T) {
	ref := func(at, to string, none ...string) rules.DeclaredReference {
		return rules.DeclaredReference{At: []string{at}, To: []string{to}, None: none}
	}
	owner := func(none ...string) rules.DeclaredReference { return ref("items.owner", "chars.guid", none...) }
	zeros := "X'00000000000000000000'"
	for name, c := range map[string]struct {
		also    []string                  // statements of every world
		first   []string                  // of the first world
		second  []string                  // of the second one
		refs    []rules.DeclaredReference // beside items.owner, or instead of it
		options func(o *rules.Options, d *rules.Declarations)
		at      string // the column that is NOT VERIFIED; "": none
		rows    int64
		keys    string // how many exist, by world
	}{
		"a bound":                        {refs: []rules.DeclaredReference{owner("<3")}, at: "items.owner", rows: 2, keys: "(w0: 2; w1: 2)"},
		"a value":                        {refs: []rules.DeclaredReference{owner("3")}, at: "items.owner", rows: 2, keys: "(w0: 1; w1: 1)"},
		"nobody's values":                {second: []string{"INSERT INTO items VALUES (7, 0, ''), (8, -1, ''), (9, 5000, '')"}, refs: []rules.DeclaredReference{owner("0", "-1", ">=1000")}},
		"a key 0 of the second world":    {second: []string{"INSERT INTO chars VALUES (0, 'zero')", "INSERT INTO items VALUES (7, 0, ''), (8, 0, '')"}, refs: []rules.DeclaredReference{owner("0")}, at: "items.owner", rows: 2, keys: "(w1: 1)"},
		"a key 0 of the first world":     {first: []string{"INSERT INTO chars VALUES (0, 'zero')"}, second: []string{"INSERT INTO items VALUES (7, 0, '')"}, refs: []rules.DeclaredReference{owner("0")}, at: "items.owner", rows: 1, keys: "(w0: 1)"},
		"a key that no row names":        {second: []string{"INSERT INTO chars VALUES (0, 'zero')"}, refs: []rules.DeclaredReference{owner("0")}},
		"rows of another condition":      {refs: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"chars.guid"}, None: []string{"3"}, When: &rules.When{Column: "tag", Is: []string{"w0 i2", "w1 i2"}}, Others: rules.OthersPlain}}},
		"rows of the condition":          {refs: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"chars.guid"}, None: []string{"3"}, When: &rules.When{Column: "tag", Is: []string{"w0 i1", "w1 i1"}}, Others: rules.OthersPlain}}, at: "items.owner", rows: 2, keys: "(w0: 1; w1: 1)"},
		"dangling keys move as keys do":  {refs: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"chars.guid"}, Dangling: []string{"3"}}}},
		"rows that are kept are no keys": {also: []string{"INSERT INTO chars VALUES (0, 'the system')", "INSERT INTO items VALUES (7, 0, '')"}, refs: []rules.DeclaredReference{owner("0")}, options: func(o *rules.Options, _ *rules.Declarations) { o.Rekey.Spaces[0].Keep = "<1" }},
		"one of several tables": {also: []string{"CREATE TABLE npcs (id INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20))", "INSERT INTO npcs VALUES (70, ''), (71, '')", "INSERT INTO items VALUES (7, 70, '')"},
			refs: []rules.DeclaredReference{{At: []string{"items.owner"}, To: []string{"chars.guid", "npcs.id"}, None: []string{"70"}}},
			options: func(o *rules.Options, _ *rules.Declarations) {
				o.Rekey.Spaces = []rules.Space{{Name: "all", Keys: []string{"chars.guid", "npcs.id"}}, {Keys: []string{"items.id"}}}
			},
			at: "items.owner", rows: 2, keys: "(w0: 1; w1: 1)"},
		"keys in cells": {also: []string{"CREATE TABLE parties (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(60) NOT NULL)", "INSERT INTO parties VALUES (1, '1 2 3 3'), (2, '2 0'), (3, '')"},
			refs: []rules.DeclaredReference{owner(), {At: []string{"parties.who"}, To: []string{"chars.guid"}, None: []string{"0", "3"}, Format: "list sep=' ' every"}},
			options: func(o *rules.Options, _ *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"parties.id"}})
			},
			at: "parties.who", rows: 2, keys: "(w0: 1; w1: 1)"},
		"digits in a text": {also: []string{"CREATE TABLE words (id INTEGER NOT NULL PRIMARY KEY, who VARCHAR(60) NOT NULL)", "INSERT INTO words VALUES (1, '3'), (2, 'none')"},
			refs: []rules.DeclaredReference{owner(), ref("words.who", "chars.guid", "none", ">2")},
			options: func(o *rules.Options, _ *rules.Declarations) {
				o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"words.id"}})
			},
			at: "words.who", rows: 2, keys: "(w0: 1; w1: 4)"}, // three of them new
		"a name": {also: []string{"CREATE TABLE guilds (name VARCHAR(20) NOT NULL PRIMARY KEY)", "INSERT INTO guilds VALUES ('Knights %d')",
			"CREATE TABLE ranks (guid INTEGER NOT NULL PRIMARY KEY, guild VARCHAR(20) NOT NULL)", "INSERT INTO ranks VALUES (1, 'Knights %d'), (2, '')"},
			first: []string{"INSERT INTO guilds VALUES ('')"},
			refs:  []rules.DeclaredReference{owner(), ref("ranks.guid", "chars.guid"), ref("ranks.guild", "guilds.name", "")},
			at:    "ranks.guild", rows: 2, keys: "(w0: 1)"},
		"a name that no row has": {also: []string{"CREATE TABLE guilds (name VARCHAR(20) NOT NULL PRIMARY KEY)", "INSERT INTO guilds VALUES ('Knights %d')",
			"CREATE TABLE ranks (guid INTEGER NOT NULL PRIMARY KEY, guild VARCHAR(20) NOT NULL)", "INSERT INTO ranks VALUES (1, 'Knights %d'), (2, '')"},
			refs: []rules.DeclaredReference{owner(), ref("ranks.guid", "chars.guid"), ref("ranks.guild", "guilds.name", "")}},
		"an ID of zeros": {also: []string{"CREATE TABLE ships (id BINARY(10) NOT NULL PRIMARY KEY)", "CREATE TABLE docks (guid INTEGER NOT NULL PRIMARY KEY, ship BINARY(10) NOT NULL)", "INSERT INTO docks VALUES (1, " + zeros + ")"},
			second: []string{"INSERT INTO ships VALUES (" + zeros + ")"},
			refs:   []rules.DeclaredReference{owner(), ref("docks.guid", "chars.guid"), ref("docks.ship", "ships.id", "0")},
			at:     "docks.ship", rows: 2, keys: "(w1: 1)"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			e := worldtest.OnSQLite(t)
			all := worldtest.KeyWorlds(t, e, 2, c.also...)
			worldtest.Exec(t, all[0], c.first...)
			worldtest.Exec(t, all[1], c.second...)
			options := func(allow ...string) planner.PlanOptions {
				return worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
					d.References, o.Allow = c.refs, allow
					if c.options != nil {
						c.options(o, d)
					}
				})
			}
			var found []verdict.Result
			opts := options()
			opts.Report = func(r *verdict.Report) {
				found = slices.DeleteFunc(slices.Clone(r.Results), func(r verdict.Result) bool { return r.Code != verdict.CodeReferenceNone })
			}
			p := worldtest.Planned(t, e.Fresh(t, "new"), all, opts)
			if c.at == "" {
				if len(found) > 0 || slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == verdict.CodeReferenceNone }) {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Table+"."+found[0].Columns[0] != c.at || found[0].Verdict != verdict.NotVerified || found[0].Rows != c.rows ||
				!strings.Contains(found[0].Message, c.keys) || len(found[0].Samples) == 0 {
				t.Errorf("got %+v", found)
			}
			if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == verdict.CodeReferenceNone }) {
				t.Errorf("the plan is refused for %v", p.Refusals)
			}
			if p = worldtest.Planned(t, e.Fresh(t, "new"), all, options(verdict.CodeReferenceNone+":"+c.at)); slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == verdict.CodeReferenceNone }) {
				t.Errorf("allowed, and refused for %v", p.Refusals)
			}
		})
	}
}

// A code that can be allowed for single columns only is allowed when the merge is planned, and is
// no error when it is verified.
func TestAllowedColumnIsVerified(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE bags (guid INTEGER NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (guid, slot))", "INSERT INTO bags VALUES (1, 50), (2, 51)")
	worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		d.References = append(d.References, rules.DeclaredReference{At: []string{"bags.guid"}, To: []string{"chars.guid"}})
		o.Allow = []string{verdict.CodeKeyUndeclared + ":bags.slot"}
	}))
}
