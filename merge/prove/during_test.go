package prove_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// aside calls f once, when a process is at the n-th of the points at which it is about to write,
// or has just written, and holds no lock. It reports how many of them there were.
type aside struct {
	n    int
	do   func()
	came int
	open int // transactions
}

func (a *aside) at(point string) error {
	switch point {
	case "after begin", "after lock":
		a.open++
	case "after commit", "after unlock":
		a.open--
	}
	switch point {
	case "before begin", "before lineage", "before state", "after state", "after unlock":
		if a.open > 0 {
			break
		}
		if a.came++; a.came-1 == a.n {
			a.do()
		}
	}
	return nil
}

// Whoever works on a merge of which another process changed the state stops, before any step that
// writes: what the other one left is what there is.
func TestTwoProcesses(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		worlds, options := worldtest.RacedWorlds(t, e)
		p, into := worldtest.PlanOf(t, e, worlds, options)
		if len(p.Resets) != 2 || len(p.Combines()) != 1 || len(p.Renames) != 1 || p.Renames[0].Source != worlds[0].Name || len(p.Counters) != 1 || p.Rekey == nil {
			t.Fatalf("not a merge of all steps: %v %v %v %v", p.Resets, p.Combines(), p.Renames, p.Counters)
		}
		h, patience := job.Hooks{Clock: worldtest.FixedClock}, time.Duration(0)
		if e.Name == "sqlite" {
			patience = time.Nanosecond
		}
		apply := func(a *aside) error {
			h := h
			if a != nil {
				h.Fail = a.at
			}
			_, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{Parallel: 1}, h)
			return err
		}
		undo := func(a *aside) error {
			h := h
			if a != nil {
				h.Fail = a.at
			}
			options := build.UndoOptions{Options: job.Options{Parallel: 1, RetryFor: patience}, Placing: func(context.Context) error { // it holds no lock
				if a == nil {
					return nil
				}
				return a.at("before state")
			}}
			_, err := build.UndoWith(t.Context(), p, into, worlds, options, h)
			return err
		}
		// now is what the new database holds, if it is there, and who may start in the worlds.
		now := func() string {
			t.Helper()
			var b strings.Builder
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil {
				t.Fatal(err)
			} else if there {
				b.WriteString(worldtest.WithoutCounters(worldtest.SteadyRows(t, p, worldtest.Clone(t, e, into))))
			}
			for _, d := range worlds {
				b.WriteString(worldtest.WithoutCounters(worldtest.Dump(t, d, worldregistry.Table)))
				db := worldtest.Pool(t, d)
				for _, row := range worldtest.ReadCell(t, db, "SELECT server_id, world, role, holder FROM "+worldregistry.Table+" ORDER BY server_id") {
					fmt.Fprintf(&b, "\n%v", row)
				}
				db.Close()
			}
			return b.String()
		}
		must := func(err error) {
			t.Helper()
			if err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Error(err)
			}
		}
		// An undo removes no file that another process has open, and waits for the session of another one: it says so, and the
		// same command goes on when that has ended.
		waits := false
		undoBeside := func() {
			err := undo(nil)
			if waits = errors.Is(err, record.ErrStopped) || errors.Is(err, record.ErrBusy); !waits {
				must(err)
			}
		}
		step, back := servertest.Scale(4, 1), servertest.Scale(2, 1) // an undo has few points
		if e.Name != "sqlite" {
			step, back = servertest.Scale(40, 1), servertest.Scale(6, 1) // a server takes half a second for each
		}
		before := now()
		must(apply(nil))
		after := now()
		// visits.who is declared plain, which only counts for rows that come; the proof knows that too.
		if proof := worldtest.Verified(t, p, into, worlds); proof.Verdict != verdict.Pass {
			t.Errorf("%s: %v", proof.Verdict, proof.Findings)
		}
		must(undo(nil))
		if diff := cmp.Diff(before, now()); diff != "" {
			t.Fatalf("undone (-before +after):\n%s", diff)
		}
		for i, c := range []struct {
			name   string
			made   bool // before
			works  func(*aside) error
			other  func()
			alone  string // what is there if it ended without an error
			second string // and if it stopped
		}{
			{"undo beside an apply", false, apply, undoBeside, after, before},
			{"apply beside an apply", false, apply, func() { must(apply(nil)) }, after, after},
			{"undo beside an undo", true, undo, undoBeside, before, before},
			{"undo and apply beside an undo", true, undo, func() {
				if undoBeside(); !waits {
					must(apply(nil))
				}
			}, before, after},
		} {
			t.Run(c.name, func(t *testing.T) {
				stopped, step, n := 0, step, i%step
				if c.made {
					step, n = back, 0
				}
				for ; ; n += step {
					must(undo(nil))
					if c.made {
						must(apply(nil))
					}
					a := &aside{n: n, do: c.other}
					err := c.works(a)
					if waits {
						must(undo(nil))
					}
					if a.came <= n {
						break
					}
					want := c.alone
					if err != nil || !c.made && a.came == n+1 { // or the other one came after the last step
						want = c.second
					}
					if waits {
						want, waits = before, false
					}
					if err != nil {
						stopped++
					}
					unrecorded := err != nil && strings.Contains(err.Error(), record.RenamesTable) // the undo dropped the tables of the record
					if err != nil && !errors.Is(err, record.ErrBusy) && !errors.Is(err, record.ErrNoMerge) && !unrecorded {
						t.Errorf("point %d: %v", n, err)
					}
					if diff := cmp.Diff(want, now()); diff != "" {
						t.Fatalf("point %d (%v): (-want +have):\n%s", n, err, diff)
					}
				}
				t.Logf("it stopped at %d points", stopped)
				if stopped == 0 && !c.made { // an undo keeps the other one out
					t.Error("it stopped nowhere")
				}
			})
		}
	})
}
