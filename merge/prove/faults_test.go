package prove_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// One bit in many rows is found, and the row named.
func TestVerifyFlippedBit(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		rows := 5_000
		if *worldtest.Long {
			rows = 1_000_000
		}
		all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 1000), worldtest.ManyRows(t, e, "b", 10_000_000, rows)}
		p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
			t.Fatalf("%+v", proof)
		}
		at := 10_000_000 + rows*2/3
		worldtest.Exec(t, into, fmt.Sprintf("UPDATE things SET n = n + 1 WHERE id = %d", at)) // n was even or odd: the last bit
		proof := worldtest.Verified(t, p, into, all)
		if s := proof.Tables[0].Samples; proof.Verdict != verdict.Fail || proof.Tables[0].Changed != 1 || proof.Tables[0].Others || len(s) != 1 || !strings.Contains(s[0].String(), fmt.Sprintf("row %d of things, from \"b\": n has", at)) {
			t.Errorf("%+v", proof)
		}
	})
}

// A row of a world that is changed, added or removed between the plan and its
// copying stops the merge before the table is complete, with a clear error. What
// was copied can be dropped.
func TestLateWrite(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000)}
		p, _ := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		worlds := worldtest.Clones(t, e, all)
		for _, c := range []struct {
			name      string
			world     int
			do        string
			meanwhile bool
		}{
			{"changed before", 1, "UPDATE things SET note = 'changed' WHERE id = 102000", false},
			{"changed before in the first world", 0, "UPDATE things SET note = 'changed' WHERE id = 7", false},
			{"changed while it runs", 1, "UPDATE things SET note = 'changed' WHERE id = 104999", true},
			{"added while it runs", 1, "INSERT INTO things SELECT id + 1, owner, note, n FROM things WHERE id = 104999", true},
			{"removed while it runs", 1, "DELETE FROM things WHERE id = 104998", true},
		} {
			t.Run(c.name, func(t *testing.T) {
				worldtest.RefillAll(t, all, worlds)
				into := e.Fresh(t, "new")
				written := false
				options := job.Options{}
				if !c.meanwhile {
					worldtest.Exec(t, worlds[c.world], c.do)
				} else {
					options.Pause = func(ctx context.Context) error {
						if !written && worldtest.Number(t, into, "SELECT COUNT(*) FROM things") > 1000 {
							written = true
							worldtest.Exec(t, worlds[c.world], c.do)
						}
						return nil
					}
				}
				_, err := build.ApplyWith(t.Context(), p, into, worlds, options, job.Hooks{Batch: time.Microsecond})
				changed := new(record.ChangedError)
				if e.Name == "sqlite" && c.meanwhile {
					// The file itself is seen to be written to.
					if err == nil {
						t.Fatal("it was not noticed")
					}
				} else if !errors.As(err, &changed) || changed.Database != all[c.world].Name || changed.Table != "things" {
					t.Fatalf("got %v, want a ChangedError", err)
				}
				// Again: the same answer, and no further.
				if _, err = build.Apply(t.Context(), p, into, worlds, job.Options{}); err == nil {
					t.Fatal("it went through at the second attempt")
				}
				if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM things"); n >= 5010 {
					t.Errorf("%d rows", n)
				}
				worldtest.MustDrop(t, p, into, worlds)
			})
		}
	})
}
