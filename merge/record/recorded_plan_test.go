package record_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// planText is a plan as its file has it.
func planText(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The new database has the whole plan from the first write until the merge is undone: what it gives
// back is what the file had, byte by byte, and carries the merge on. Asking changes nothing.
func TestRecordedPlan(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		raced, options := worldtest.RacedWorlds(t, e)
		for name, c := range map[string]struct {
			all     []world.Database
			options planner.PlanOptions
		}{
			"names":   {raced, options},
			"matches": {worldtest.ThreeLogins(t, e), planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)}},
		} {
			t.Run(name, func(t *testing.T) {
				worlds := c.all
				p, into := worldtest.PlanOf(t, e, worlds, c.options)
				p.Program, p.Lacks = "servermerge 1", []string{"a right"}
				want := planText(t, p)
				recorded := func(ids ...string) (last *plan.Plan) {
					t.Helper()
					before := worldtest.Dump(t, into)
					for _, id := range ids {
						got, err := record.RecordedPlan(t.Context(), into, id)
						if err != nil || got == nil {
							t.Fatalf("%q: %v, %v", id, got, err)
						}
						if diff := cmp.Diff(want, planText(t, got)); diff != "" {
							t.Errorf("%q (-file +record):\n%s", id, diff)
						}
						last = got
					}
					if diff := cmp.Diff(before, worldtest.Dump(t, into)); diff != "" {
						t.Error(diff)
					}
					return last
				}
				none := func() {
					t.Helper()
					for _, id := range []string{p.ID, ""} {
						if got, err := record.RecordedPlan(t.Context(), into, id); got != nil || err != nil && !strings.Contains(err.Error(), "no such file") {
							t.Errorf("%q: %v, %v", id, got, err)
						}
					}
				}
				none()
				ctx, cancel := context.WithCancelCause(t.Context())
				_, err := build.ApplyWith(ctx, p, into, worlds, job.Options{Parallel: 1}, job.Hooks{Batch: time.Nanosecond, Fail: func(point string) error {
					if point == "after checkpoint" {
						cancel(errors.New("enough"))
					}
					return nil
				}})
				if !errors.Is(err, record.ErrStopped) {
					t.Fatalf("%v, want it to stop in the middle", err)
				}
				if _, err := build.Apply(t.Context(), recorded(p.ID, ""), into, worlds, job.Options{}); err != nil {
					t.Fatal(err)
				}
				if name == "matches" { // as one with very many of them is recorded
					small := *p
					small.Rekey = plan.WithoutMatches(p.Rekey)
					recordPlan(t, into, &small)
				}
				if _, err := build.Undo(t.Context(), recorded(p.ID, ""), into, worlds, build.UndoOptions{}); err != nil {
					t.Fatal(err)
				}
				none()
			})
		}
	})
}

// recordPlan writes a plan into the record of the only merge of a database.
func recordPlan(t *testing.T, into world.Database, p *plan.Plan) {
	t.Helper()
	db := worldtest.Pool(t, into)
	defer db.Close()
	if _, err := db.Exec("UPDATE "+record.RecordTable+" SET plan = ?", planText(t, p)); err != nil {
		t.Fatal(err)
	}
}

// A record that does not have the whole plan is an error, and no plan.
func TestRecordedPlanInPart(t *testing.T) {
	e := worldtest.Engines()[0]
	all := worldtest.ThreeLogins(t, e)
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{Check: worldtest.LoginRules(worldtest.Themes)})
	small := *p
	small.Rekey = plan.WithoutMatches(p.Rekey)
	recordPlan(t, into, &small)
	worldtest.Exec(t, into, "DELETE FROM "+record.MatchesTable)
	partly := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if got, err := record.RecordedPlan(t.Context(), into, id); got != nil || !errors.Is(err, record.ErrPartOfPlan) {
				t.Errorf("%q: %v, %v", id, got, err)
			}
		}
	}
	partly("")
	worldtest.Exec(t, into, "DELETE FROM "+record.RecordTable) // as of an apply that was stopped when it had made the table
	partly("", p.ID)
	worldtest.Exec(t, into, "DROP TABLE "+record.MergesTable)
	partly("", p.ID)
	if got, err := record.RecordedPlan(t.Context(), into, "another"); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
