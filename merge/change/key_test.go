package change_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A UNIQUE key of NOT NULL columns serves as a primary key: the table is copied,
// also if it is interrupted, proved and undone. One that NULL is let into does
// not: its rows are a multiset.
func TestUniqueKeyAsPrimary(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		fresh := func(null string) []world.Database {
			all := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}
			for i, d := range all {
				worldtest.Exec(t, d, "CREATE TABLE bag (owner VARCHAR(9) NOT NULL, slot INTEGER "+null+", item INTEGER, UNIQUE (owner, slot))")
				for _, slot := range []string{"1", "2", "10"} {
					worldtest.Exec(t, d, "INSERT INTO bag VALUES ('"+[]string{"x", "y"}[i]+"', "+slot+", 7)")
				}
			}
			return all
		}
		all := fresh("NULL")
		if p, _ := worldtest.PlanOf(t, e, all, planner.PlanOptions{}); len(p.Tables) != 1 || len(p.Tables[0].Key) != 0 {
			t.Errorf("planned: %+v", p.Tables)
		}
		worldtest.MergedAndBack(t, e, all, planner.PlanOptions{})

		all = fresh("NOT NULL")
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		if len(p.Tables) != 1 || !slices.Equal(p.Tables[0].Key, []string{"owner", "slot"}) {
			t.Fatalf("planned: %+v", p.Tables)
		}
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: -1}, job.Hooks{Fail: worldtest.Second("before commit")}); err == nil {
			t.Fatal("it was not interrupted")
		}
		worldtest.MustApply(t, p, into, all)
		if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict != verdict.Pass {
			t.Errorf("%+v, %v", proof, err)
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM bag"); n != 6 {
			t.Errorf("%d rows, want 6", n)
		}
		worldtest.Exec(t, into, "INSERT INTO bag VALUES ('z', 1, 9)")
		refused := new(record.RefusedError)
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "bag") {
			t.Errorf("undo beside a row of others: %v", err)
		}
		worldtest.Exec(t, into, "DELETE FROM bag WHERE owner = 'z'")
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Error(err)
		}
		worldtest.Dropped(t, into)
	})
}
