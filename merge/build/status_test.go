package build_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A status of worlds that are exchanged would be one of others: nothing of it is said.
func TestLookUpOfAnotherWorld(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		swapped := []world.Database{{Name: all[0].Name, DSN: all[1].DSN}, {Name: all[1].Name, DSN: all[0].DSN}}
		if at, err := build.LookUp(t.Context(), p, into, swapped); err == nil || !strings.Contains(err.Error(), `database "s1": it is not the planned world`) {
			t.Errorf("%+v, %v", at, err)
		}
	})
}

// At every moment the status says what is there, and looking changes nothing.
func TestLookUp(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 20, "anna"), worldtest.GameWorld(t, e, "s2", 2, 1500, "bert"), worldtest.GameWorld(t, e, "s3", 3, 11, "carl")}
	p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
	look := func(state record.State, copied int64, fenced bool) {
		t.Helper()
		all := append([]world.Database{into}, worlds...)
		before := make([]string, len(all))
		for i, d := range all {
			before[i] = worldtest.Dump(t, d)
		}
		s, err := build.LookUp(t.Context(), p, into, worlds)
		if err != nil {
			t.Fatal(err)
		}
		if s.ID != p.ID || s.State != state || s.Copied() != copied {
			t.Errorf("%+v; want %s with %d copied", s, state, copied)
		}
		want := []build.FenceStatus{{World: "s1", Server: "1", Fenced: fenced}, {World: "s2", Server: "2", Fenced: fenced}, {World: "s3", Server: "3", Fenced: fenced}}
		if diff := cmp.Diff(want, s.Fences); diff != "" {
			t.Error(diff)
		}
		for i, d := range all {
			if diff := cmp.Diff(before[i], worldtest.Dump(t, d)); diff != "" {
				t.Errorf("looking changed %s:\n%s", d.Name, diff)
			}
		}
	}
	look(record.StateNone, 0, false)

	// The first batch is of 1000 rows.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := job.Options{RetryFor: -1, Progress: func(p job.Progress) {
		if p.Step == record.StepCopy && p.Rows > 20 {
			cancel()
		}
	}}
	if _, err := build.ApplyWith(t.Context(), p, into, worlds, options, job.Hooks{Clock: worldtest.FixedClock, Fail: func(string) error { return ctx.Err() }}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	n := int64(0)
	for _, table := range []string{"players", "items", "guilds", "guild_members"} {
		n += worldtest.Number(t, into, "SELECT COUNT(*) FROM "+table)
	}
	if n == 0 || n == p.Rows() {
		t.Fatalf("%d rows were copied", n)
	}
	look(record.StateCopying, n, true)
	worldtest.MustApply(t, p, into, worlds)
	look(record.StateMade, p.Rows(), true)
	worldtest.Opened(t, p, into, worlds)
	look(record.StateOpen, p.Rows(), true)
	if _, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	look(record.StatePlanAgain, 0, false) // it raised what the worlds give
}

// While the record of a merge is made, statement by statement, its state is known: an apply that was killed there has begun, and is
// undone.
func TestKilledWithinTheRecord(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		begun := 0
		for n := range 4 {
			came, met := 0, false
			build.ApplyWith(t.Context(), p, into, all, once, job.Hooks{Fail: func(point string) error {
				if point != "before create" || met {
					return nil
				}
				if came++; came-1 < n {
					return nil
				}
				met = true
				return context.Canceled
			}})
			is, err := build.LookUp(t.Context(), p, into, all)
			if err != nil {
				t.Fatalf("killed before statement %d: %v", n, err)
			}
			if is.State == record.StateCopying {
				begun++
			}
			if _, err := prove.Verify(t.Context(), p, into, all, once); err == nil || strings.Contains(err.Error(), record.ProgressTable) {
				t.Errorf("killed before statement %d, verify: %v", n, err)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Fatalf("killed before statement %d, undo: %v", n, err)
			}
			worldtest.Dropped(t, into)
		}
		if begun < 3 {
			t.Errorf("a record was begun at %d points", begun)
		}
	})
}
