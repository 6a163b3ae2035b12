package change_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// placed are worlds whose accounts are the same, and whose characters have places in them.
func placed(t testing.TB, e worldtest.Engine, unique bool, rows ...string) (all []world.Database) {
	t.Helper()
	for i, of := range rows {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		worldtest.Exec(t, d, "CREATE TABLE chars (id INTEGER NOT NULL PRIMARY KEY, account INTEGER, place SMALLINT, name VARCHAR(20))", "INSERT INTO chars VALUES "+of)
		if unique {
			worldtest.Exec(t, d, "CREATE UNIQUE INDEX places ON chars (account, place)")
		}
		all = append(all, d)
	}
	return all
}

func threePlaced(t testing.TB, e worldtest.Engine, unique bool) []world.Database {
	return placed(t, e, unique,
		"(1, 10, 0, 'a'), (2, 10, 2, 'b'), (3, 11, 1, 'c'), (4, NULL, 0, 'd'), (5, 13, 0, 'alone')",
		"(1, 10, 1, 'e'), (2, 10, 0, 'f'), (3, 10, 2, 'g'), (4, 11, 1, 'h'), (5, NULL, 0, 'i'), (6, 12, 4, 'j'), (10, 14, NULL, 'k')",
		"(1, 10, 0, 'l'), (2, 11, 2, 'm'), (3, 11, 1, 'n'), (4, 12, 4, 'o'), (5, 14, 7, 'p')")
}

func renumbering(max int64) planner.PlanOptions {
	policy := rules.TablePolicy{Tables: []string{"chars"}, Policy: rules.PolicyCopy, Renumber: "place", Within: []string{"account"}}
	if max > 0 {
		policy.Max = &max
	}
	return planner.PlanOptions{Check: rules.Options{
		Tables: []rules.TablePolicy{policy},
		Rules:  []rules.Declarations{{Plain: []string{"chars.place", "chars.name"}, Shared: []string{"chars.account"}}},
		Rekey:  &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"chars.id"}}}},
	}}
}

// Where rows of several worlds meet under one account, those whose place is taken get the next free
// one, in the order of the worlds, places and keys; nothing else changes. Verify tells if one is another.
func TestRenumber(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		for _, unique := range []bool{true, false} { // by an index of the database, or by the rules alone
			all := threePlaced(t, e, unique)
			p, into := worldtest.PlanOf(t, e, all, renumbering(6))
			if got := fmt.Sprint(p.Renumbered[0].Counts, len(p.Renames)); got != "[0 3 4] 7" {
				t.Fatalf("%s: %+v", got, p.Renames)
			}
			if unique {
				worldtest.InterruptedAnywhere(t, e, p, all, map[bool]int{true: 31, false: 135}[e.Name == "sqlite"])
			}
			worldtest.MustApply(t, p, into, all)
			worldtest.Asked(t, into, "SELECT account, place, name FROM chars WHERE account IS NOT NULL AND place IS NOT NULL ORDER BY account, place",
				"10|0|a", "10|1|e", "10|2|b", "10|3|f", "10|4|g", "10|5|l",
				"11|1|c", "11|2|h", "11|3|n", "11|4|m", "12|4|j", "12|5|o", "13|0|alone", "14|7|p")
			worldtest.Proved(t, p, into, all)
			worldtest.Exec(t, into, "UPDATE chars SET place = 6 WHERE name = 'f'")
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprint(proof.Tables[0].Samples), `from "s2": place has another value`) {
				t.Errorf("%+v", proof.Tables)
			}
			if !unique {
				worldtest.Exec(t, into, "UPDATE chars SET place = 0 WHERE name = 'f'")
				if proof := worldtest.Verified(t, p, into, all); !strings.Contains(fmt.Sprint(proof.Findings), "unique-collision: (account, place): renumbered: 1 value occurs more than once") {
					t.Errorf("%+v", proof.Findings)
				}
			}
		}
	})
}

// Rows whose value in within names no row, as a reference says, belong to nobody together: they
// keep their values, however many there are, and are no conflict for verify; unless a UNIQUE
// index lets only one have it.
func TestRenumberLeavesNobody(t *testing.T) {
	e := worldtest.OnSQLite(t)
	worlds := func(also ...string) []world.Database {
		all := placed(t, e, false, "(1, 1, 0, 'a'), (2, 0, 0, 'gone'), (3, 0, 0, 'gone too'), (4, 0, 1, 'and')", "(1, 1, 0, 'b'), (2, 0, 0, 'left'), (3, 0, 1, 'away')")
		for _, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)", "INSERT INTO accounts VALUES (1, 'ann')")
			worldtest.Exec(t, d, also...)
		}
		return all
	}
	options := func(none ...string) planner.PlanOptions {
		o := renumbering(1)
		o.Check.Rekey.Spaces = append(o.Check.Rekey.Spaces, rules.Space{Keys: []string{"accounts.id"}, Match: []string{"accounts.name"}})
		o.Check.Rules = []rules.Declarations{{Plain: []string{"chars.place", "chars.name", "accounts.name"}, References: []rules.DeclaredReference{{At: []string{"chars.account"}, To: []string{"accounts.id"}, None: none}}}}
		return o
	}
	all := worlds()
	p, into := worldtest.MergeOf(t, e, all, options("0"))
	worldtest.Asked(t, into, "SELECT account, place, name FROM chars ORDER BY account, place, name", "0|0|gone", "0|0|gone too", "0|0|left", "0|1|and", "0|1|away", "1|0|a", "1|1|b")
	worldtest.Proved(t, p, into, all)
	worldtest.Exec(t, into, "UPDATE chars SET place = 0 WHERE name = 'b'")
	if proof := worldtest.Verified(t, p, into, all); !strings.Contains(fmt.Sprint(proof.Findings), "unique-collision: (account, place): renumbered: 1 value occurs more than once") {
		t.Errorf("%+v", proof.Findings)
	}
	for want, c := range map[string]struct {
		also []string
		none []string
	}{
		"s1 itself has several rows with the same value": {nil, []string{"-1"}},
		"would exceed the largest value, 1":              {[]string{"DELETE FROM chars WHERE id = 3 AND name = 'gone too'", "CREATE UNIQUE INDEX places ON chars (account, place)"}, []string{"0"}},
	} {
		all := worlds(c.also...)
		if p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, options(c.none...)); err != nil || !strings.Contains(fmt.Sprint(p.Refusals), want) {
			t.Errorf("%s: %v, refused for %v", want, err, p.Refusals)
		}
	}
}

// What cannot be renumbered is refused by name.
func TestRenumberRefused(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, tt := range []struct {
		name    string
		prepare string // in each
		change  func(o *planner.PlanOptions)
		want    []string
	}{
		{"without it", "", func(o *planner.PlanOptions) { o.Check.Tables = nil }, []string{"unique-collision", "(account, place)"}},
		{"too many", "", func(o *planner.PlanOptions) { o.Check.Tables[0].Max = new(int64(4)) }, []string{`renumber = "place" cannot resolve it: in s3 the row with the key "1" would exceed the largest value, 4`}},
		{"free below", "UPDATE chars SET place = place + 10 WHERE account = 10", func(o *planner.PlanOptions) { o.Check.Tables[0].Max = new(int64(14)) },
			[]string{`would exceed the largest value, 14: there are too many rows with its account from 10 on; smaller values are used only if from allows them, such as from = 0`}},
		{"its own", "DROP INDEX places ON chars; INSERT INTO chars VALUES (20, 13, 0, 'twice')", nil, []string{"s1 itself has several rows with the same value, such as 0"}},
		{"a reference", "CREATE TABLE quick (id INTEGER NOT NULL PRIMARY KEY, place INTEGER)", func(o *planner.PlanOptions) {
			o.Check.Rules[0].References = []rules.DeclaredReference{{At: []string{"quick.place"}, To: []string{"chars.place"}}}
		}, []string{`table chars: renumber = "place"`, "is the target of the reference quick.place → chars.place"}},
		{"a key", "", func(o *planner.PlanOptions) { o.Check.Tables[0].Renumber = "id" }, []string{`renumber = "id"`, "is part of the key"}},
		{"another index", "CREATE UNIQUE INDEX other ON chars (name, place)", nil, []string{"the UNIQUE index other of s1 has other columns, (name, place)"}},
		{"texts", "", func(o *planner.PlanOptions) { o.Check.Tables[0].Renumber = "name" }, []string{`renumber = "name": it is`, "want a column of integers"}},
		{"no column", "", func(o *planner.PlanOptions) { o.Check.Tables[0].Within = []string{"acount"} }, []string{`has no column "acount" (did you mean "account"?)`}},
		{"a policy", "", func(o *planner.PlanOptions) { o.Check.Tables[0].Policy = rules.PolicySkip }, []string{`renumber = "place": want within`, `the policy "copy"`}},
		{"shared", "", func(o *planner.PlanOptions) {
			o.Check.Rules[0] = rules.Declarations{Plain: []string{"chars.name"}, Shared: []string{"chars.place", "chars.account"}}
		}, []string{"is declared shared by"}},
	} {
		all := threePlaced(t, e, true)
		for _, d := range all {
			for _, s := range strings.Split(tt.prepare, "; ") {
				s = strings.ReplaceAll(s, "INDEX places ON chars", "INDEX places")
				if s != "" {
					worldtest.Exec(t, d, s)
				}
			}
		}
		o := renumbering(6)
		if tt.change != nil {
			tt.change(&o)
		}
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, o)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(p.Refusals)
		} else if !errors.Is(err, rules.ErrOptions) {
			t.Error(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant: %s", tt.name, got, want)
			}
		}
	}
}
