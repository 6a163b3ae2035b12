package change_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// flagged are worlds of characters with flags by which the game asks for another name. The
// keys of both count from 1.
func flagged(t testing.TB, e worldtest.Engine) (all []world.Database) {
	t.Helper()
	for i, rows := range []string{
		"(1, 'Ann', 0, 'no', 10), (2, 'Bob', 4, 'no', 90), (3, 'Cat', 1, 'no', 10), (4, 'Own', 0, 'no', 1)",
		"(1, 'Ann', 2, 'no', 20), (2, 'Bob', 0, 'no', 20), (3, 'Cat', 1, 'no', 20), (4, 'Two', 8, 'no', 1)"} {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		small := map[bool]string{true: "INTEGER", false: "SMALLINT UNSIGNED"}[e.Name == "sqlite"]
		worldtest.Exec(t, d, "CREATE TABLE chars (guid INTEGER NOT NULL PRIMARY KEY, name VARCHAR(12) NOT NULL, at_login "+small+" NOT NULL DEFAULT 0, asked VARCHAR(3), seen INTEGER)",
			"INSERT INTO chars VALUES "+rows)
		all = append(all, d)
	}
	return all
}

// A row that gets a new name gets bits set and constants beside it, in the first world too. Nothing
// else changes, and verify tells if one is another.
func TestNamesSet(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := flagged(t, e)
		p, into := worldtest.PlanOf(t, e, all, worldtest.Flagging("at_login", "| 1", "asked", "yes"))
		var changes []string
		for _, r := range p.Renames {
			changes = append(changes, fmt.Sprintf("%s %s %s %s>%s", r.Source, world.KeyText(r.Key), r.Column, r.Old, r.New))
		}
		// Cat of s1 has the bit already.
		if got, want := strings.Join(changes, "; "), "s1 1 name Ann>Ann.; s1 1 at_login 0>1; s1 1 asked no>yes; "+
			"s2 2 name Bob>Bob.; s2 2 at_login 0>1; s2 2 asked no>yes; s1 3 name Cat>Cat.; s1 3 asked no>yes"; got != want {
			t.Errorf("planned:\n%s\nwant:\n%s", got, want)
		}
		worldtest.InterruptedAnywhere(t, e, p, all, map[bool]int{true: 31, false: 120}[e.Name == "sqlite"])
		worldtest.MustApply(t, p, into, all)
		worldtest.Asked(t, into, "SELECT guid, name, at_login, asked, seen FROM chars ORDER BY guid",
			"1|Ann.|1|yes|10", "2|Bob|4|no|90", "3|Cat.|1|yes|10", "4|Own|0|no|1",
			"1001|Ann|2|no|20", "1002|Bob.|1|yes|20", "1003|Cat|1|no|20", "1004|Two|8|no|1")
		for _, c := range []struct{ change, back, want string }{
			{"UPDATE chars SET at_login = 0 WHERE guid = 1002", "UPDATE chars SET at_login = 1 WHERE guid = 1002", "row 1002 of chars, from \"s2\": at_login has another value"},
			{"UPDATE chars SET asked = 'no' WHERE guid = 1002", "UPDATE chars SET asked = 'yes' WHERE guid = 1002", "row 1002 of chars, from \"s2\": asked has another value"},
			{"UPDATE chars SET at_login = 0 WHERE guid = 1", "UPDATE chars SET at_login = 1 WHERE guid = 1", "row 1 of chars, from \"s1\": at_login has another value"},
		} {
			worldtest.Exec(t, into, c.change)
			proof := worldtest.Verified(t, p, into, all)
			of := proof.Tables[0]
			if proof.Verdict != verdict.Fail || of.Verdict != verdict.Fail || of.Changed != 1 || !strings.Contains(fmt.Sprint(of.Samples), c.want) {
				t.Errorf("%s: %+v", c.change, of)
			}
			worldtest.Exec(t, into, c.back)
		}
		worldtest.Proved(t, p, into, all)
	})
}

// A column that is something else, or that does not take the value, is not set: the message
// names the statement and the column.
func TestNamesSetRefused(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := flagged(t, e)
		for _, d := range all {
			worldtest.Exec(t, d, "ALTER TABLE chars ADD COLUMN owner INTEGER", "UPDATE chars SET owner = guid", "CREATE UNIQUE INDEX one ON chars (owner, seen, guid)", "ALTER TABLE chars ADD COLUMN tiny TINYINT", "ALTER TABLE chars ADD COLUMN ratio DOUBLE")
		}
		for _, c := range []struct {
			column, to string
			more       func(o *planner.PlanOptions)
			want       string
		}{
			{"guid", "1", nil, "is part of the key"},
			{"name", "x", nil, "is itself a name that [[merge.name]] changes"},
			{"owner", "1", nil, "is part of the unique columns (owner, seen, guid)"},
			{"at_logn", "1", nil, `table "chars" has no column "at_logn"`},
			{"asked", "| 1", nil, "want a column of integers, or of texts for a constant"},
			{"asked", "yess", nil, `"yess" is longer`},
			{"at_login", "one", nil, `"one" is not an integer`},
			{"ratio", "1", nil, "want a column of integers"},
			{"at_login", "| 65536", nil, map[bool]string{true: "", false: "takes numbers from 0 to 65535, not 65536"}[e.Name == "sqlite"]},
			{"at_login", "-1", nil, map[bool]string{true: "", false: "takes numbers from 0 to 65535, not -1"}[e.Name == "sqlite"]},
			{"tiny", "-129", nil, map[bool]string{true: "", false: "takes numbers from -128 to 127, not -129"}[e.Name == "sqlite"]},
			{"tiny", "1", nil, "is NULL"},
			{"at_login", "| 1", func(o *planner.PlanOptions) {
				o.Check.Rules[0].Shared = []string{"chars.at_login"}
				o.Check.Rules[0].Plain = nil
			}, "is declared shared by"},
			{"at_login", "| 1", func(o *planner.PlanOptions) {
				o.Check.Rules[0].References = []rules.DeclaredReference{{At: []string{"chars.seen"}, To: []string{"chars.guid"}, When: &rules.When{Column: "at_login", Is: []string{"0"}}}}
				o.Check.Rules[0].Plain = []string{"chars.at_login"}
			}, "is the condition of the reference seen → chars.guid when at_login is 0"},
			{"at_login", "| 1", func(o *planner.PlanOptions) {
				o.Names = append(o.Names, plan.NamePolicy{Table: "chars", Column: "asked", Set: o.Names[0].Set})
			}, "is also set by the [[merge.name]] of chars.name"},
		} {
			o := worldtest.Flagging(c.column, c.to)
			if c.more != nil {
				c.more(&o)
			}
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, o)
			got := fmt.Sprint(err)
			if err == nil {
				got = fmt.Sprint(p.Refusals)
			} else if !errors.Is(err, rules.ErrOptions) {
				t.Errorf("%s: %v", c.column, err)
			}
			if c.want != "" && (!strings.Contains(got, c.want) || !strings.Contains(got, c.column)) {
				t.Errorf("%s = %q: %s\nwant: %s", c.column, c.to, got, c.want)
			}
		}
	})
}
