package build_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Of a table of which a world had no rows to come none are read: apply and the proof count them, so that none that came
// since is left behind unseen.
func TestRowsInEmptyTable(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for name, others := range map[string]string{"beside another": "INSERT INTO notes VALUES (2, 'b')", "of all but the first": "DELETE FROM notes"} {
		t.Run(name, func(t *testing.T) {
			var all []world.Database
			for i := range 3 {
				d := e.Fresh(t, fmt.Sprint("s", i+1))
				worldtest.Exec(t, d, "CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(9))")
				all = append(all, d)
			}
			worldtest.Exec(t, all[0], "INSERT INTO notes VALUES (1, 'a')")
			worldtest.Exec(t, all[1], others)
			p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
			found := func() { worldtest.Exec(t, all[2], "INSERT INTO notes VALUES (3, 'new')") }
			gone := func() { worldtest.Exec(t, all[2], "DELETE FROM notes") }
			const want = "it has 1 row, but had 0 when the plan was made"
			in := func(r plan.Refusal) bool { return r.Source == "s3" && r.Table == "notes" && r.Reason == want }

			found()
			_, err := build.Apply(t.Context(), p, into, all, job.Options{})
			if refused, is := err.(*record.RefusedError); !is || !slices.ContainsFunc(refused.Refusals, in) {
				t.Errorf("apply: %v", err)
			}
			gone()
			if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
				t.Fatal(err)
			}
			found()
			if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || !slices.ContainsFunc(proof.Findings, in) {
				t.Errorf("%+v", proof)
			}
		})
	}
}

// Rows are counted as they are inserted: a row that the new database leaves out, as a constraint of SQLite says, ends apply.
func TestRowLeftOutByConflict(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		if e.Name != "sqlite" {
			t.Skip("a server has no ON CONFLICT")
		}
		var all []world.Database
		for i := range 2 {
			d := e.Fresh(t, fmt.Sprint("w", i))
			worldtest.Exec(t, d, "CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, n INTEGER UNIQUE ON CONFLICT IGNORE)", fmt.Sprintf("INSERT INTO things VALUES (%d, %[1]d), (%d, %[2]d)", i*100+1, i*100+2))
			all = append(all, d)
		}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: -1, Pause: func(context.Context) error {
			if worldtest.Number(t, into, "SELECT COUNT(*) FROM things") == 2 {
				worldtest.Exec(t, into, "INSERT INTO things VALUES (7, 102)")
			}
			return nil
		}}, job.Hooks{})
		if err == nil || !strings.Contains(err.Error(), "the database took 1 of 2 rows") {
			t.Error(err)
		}
	})
}
