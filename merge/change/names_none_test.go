package change_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/worldtest"
)

// A value that is no name stays in all rows that have it, and what holds it names nobody. It
// does not matter which statement about the column says so.
func TestNamesNone(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := flagged(t, e)
	for _, d := range all {
		worldtest.Exec(t, d, "INSERT INTO chars VALUES (5, '', 0, 'no', 5), (6, '', 0, 'no', 6)", "CREATE TABLE letters (id INTEGER NOT NULL PRIMARY KEY, writer VARCHAR(12))",
			"INSERT INTO letters VALUES (1, ''), (2, 'Bob')")
	}
	into := e.Fresh(t, "new")
	planWith := func(name, unique []string) *plan.Plan {
		o := worldtest.Flagging()
		o.Names[0].None = name
		o.Check.Uniques = []rules.DeclaredUnique{{Table: "chars", Columns: []string{"name"}, None: unique}}
		o.Check.Rules[0].Plain = []string{"chars.at_login", "chars.asked", "chars.seen"}
		o.Check.Rules[0].References = []rules.DeclaredReference{{At: []string{"letters.writer"}, To: []string{"chars.name"}}}
		o.Check.Rekey.Spaces = append(o.Check.Rekey.Spaces, rules.Space{Keys: []string{"letters.id"}})
		return worldtest.Planned(t, into, all, o)
	}
	if p := planWith(nil, nil); !strings.Contains(fmt.Sprint(p.Refusals), `the column writer refers to ""`) {
		t.Errorf("without it: %v", p.Refusals)
	}
	for _, p := range []*plan.Plan{planWith([]string{""}, nil), planWith(nil, []string{""}), planWith([]string{""}, []string{""})} {
		var got []string
		for _, r := range p.Renames {
			got = append(got, fmt.Sprintf("%s %s %s>%s", r.Source, r.Table, r.Old, r.New))
		}
		if got, want := strings.Join(got, "; "), "s1 chars Ann>Ann.; s2 chars Bob>Bob.; s1 chars Cat>Cat.; s2 letters Bob>Bob."; got != want || len(p.Refusals) > 0 {
			t.Fatalf("planned: %s, want %s; refused: %v", got, want, p.Refusals)
		}
	}
	p := planWith([]string{""}, nil)
	worldtest.MustApply(t, p, into, all)
	worldtest.Asked(t, into, "SELECT COUNT(*) FROM chars WHERE name = ''", "4")
	worldtest.Asked(t, into, "SELECT id, writer FROM letters ORDER BY id", "1|", "2|Bob", "1001|", "1002|Bob.")
	worldtest.Proved(t, p, into, all)

	// What a database itself keeps unique cannot be no name.
	taken := flagged(t, e)
	for _, d := range taken {
		worldtest.Exec(t, d, "CREATE UNIQUE INDEX names ON chars (name)")
	}
	for _, o := range []planner.PlanOptions{
		{Names: []plan.NamePolicy{{Table: "chars", Column: "name", None: []string{""}}}},
		{Check: rules.Options{Uniques: []rules.DeclaredUnique{{Table: "chars", Columns: []string{"name"}, None: []string{""}}}}},
	} {
		if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), taken, o); !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), `have such a value in chars.name, but the UNIQUE index names of s1 allows only one`) {
			t.Errorf("%v", err)
		}
	}
}
