package transfer

import (
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// A UNIQUE key of NOT NULL columns serves as a primary key: the table is copied,
// also if it is interrupted, proved and taken back. One that NULL is let into does
// not: its rows are a multiset.
func TestUniqueKeyAsPrimary(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		fresh := func(null string) []rowio.Database {
			all := []rowio.Database{e.fresh(t, "a"), e.fresh(t, "b")}
			for i, d := range all {
				exec(t, d, "CREATE TABLE bag (owner VARCHAR(9) NOT NULL, slot INTEGER "+null+", item INTEGER, UNIQUE (owner, slot))")
				for _, slot := range []string{"1", "2", "10"} {
					exec(t, d, "INSERT INTO bag VALUES ('"+[]string{"x", "y"}[i]+"', "+slot+", 7)")
				}
			}
			return all
		}
		all := fresh("NULL")
		p, err := planner.NewPlan(t.Context(), all[0], all[1:], planner.PlanOptions{MaxKeyless: -1})
		if err != nil || len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Reason, "no UNIQUE key of NOT NULL columns") {
			t.Errorf("%v, %v", p.Refusals, err)
		}
		mergedAndBack(t, all, planner.PlanOptions{})

		all = fresh("NOT NULL")
		p = mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		if len(p.Tables) != 1 || !slices.Equal(p.Tables[0].Key, []string{"owner", "slot"}) {
			t.Fatalf("planned: %+v", p.Tables)
		}
		before := dump(t, all[0])
		if _, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{RetryFor: -1}, job.Hooks{Fail: second("before commit")}); err == nil {
			t.Fatal("it was not interrupted")
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		if proof, err := prove.Verify(t.Context(), p, all[0], all[1:], job.Options{}); err != nil || proof.Verdict != verdict.Pass {
			t.Errorf("%+v, %v", proof, err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM bag"); n != 6 {
			t.Errorf("%d rows, want 6", n)
		}
		exec(t, all[0], "INSERT INTO bag VALUES ('z', 1, 9)")
		if done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil || done.Rows != 3 {
			t.Errorf("%+v, %v", done, err)
		}
		exec(t, all[0], "DELETE FROM bag WHERE owner = 'z'")
		if before != dump(t, all[0]) {
			t.Error("the target is not what it was before")
		}
	})
}
