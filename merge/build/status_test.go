package build_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

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
