package build_test

import (
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What is missing is said by its name: a merge that was not begun, and the key of
// config.toml that a name without a length needs.
func TestWhatIsMissingIsNamed(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE bag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
		worldtest.Exec(t, d, "INSERT INTO bag VALUES ("+[]string{"1", "1000"}[i]+", 'Aria')")
	}
	names := []plan.NamePolicy{{Table: "bag", Column: "name"}}
	into := e.Fresh(t, "new")
	p := worldtest.Planned(t, into, all, planner.PlanOptions{Names: names})
	for _, code := range []string{verdict.CodeUniqueCollision, ""} { // the check finds it, as it does without a plan
		if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.Code == code && strings.Contains(r.Reason, "max = 32") }) {
			t.Errorf("a name without a length: no refusal with the code %q: %v", code, p.Refusals)
		}
	}
	names[0].MaxLength = 20
	p = worldtest.MustPlan(t, into, all, planner.PlanOptions{Names: names})
	if _, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err == nil || !strings.Contains(err.Error(), "was not begun in") {
		t.Errorf("a merge that was not begun: %v", err)
	}
	// Where no name occurs twice, none is missed.
	worldtest.Exec(t, all[1], "UPDATE bag SET name = 'Bert'")
	names[0].MaxLength = 0
	worldtest.MustPlan(t, into, all, planner.PlanOptions{Names: names})
}
