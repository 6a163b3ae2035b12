package planner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Ready says what Apply would say, and writes nothing.
func TestReady(t *testing.T) {
	e := worldtest.OnSQLite(t)
	worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
	unwritten := worldtest.Watched(t, into, worlds)
	refusals, err := build.Fresh(t.Context(), p, into, worlds, job.Options{})
	if err != nil || len(refusals) > 0 {
		t.Fatalf("got %v, %v", refusals, err)
	}
	refusals, err = build.Ready(t.Context(), p, into, worlds, job.Options{})
	if err != nil || len(refusals) > 0 {
		t.Fatalf("got %v, %v", refusals, err)
	}
	unwritten("ready")
	worldtest.Exec(t, worlds[1], "DELETE FROM items")
	worldtest.Serve(t, worlds[0], 1)
	fresh, err := build.Fresh(t.Context(), p, into, worlds, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refusals, err = build.Ready(t.Context(), p, into, worlds, job.Options{})
	if err != nil || len(refusals) < 2 || !cmp.Equal(refusals, fresh) {
		t.Fatalf("got %v, %v, %v", refusals, fresh, err)
	}
	all := (&record.RefusedError{Refusals: refusals}).Error()
	for _, want := range []string{"server 1 runs", "stop it first", `database "s2": table "items": it has 0 rows, but had 12 when the plan was made: plan again`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
}

// Once the databases of a merge are fenced, none of their servers starts; Apply finds its own
// fences, and Undo and Unfence lift them.
func TestFence(t *testing.T) {
	e := worldtest.OnSQLite(t)
	worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	free := func(want bool) {
		t.Helper()
		worldtest.Startable(t, worlds[0], 1, want)
		worldtest.Startable(t, worlds[1], 2, want)
	}
	p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
	fence := func() {
		t.Helper()
		if err := build.Fence(t.Context(), p, into, worlds, job.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	fence()
	free(false)
	fence() // again, as after a kill
	now := worldtest.RegistryIn(t, worlds[1])
	if got := record.InUse("s2", now, "m9"); len(got) != 1 || !strings.Contains(got[0].Reason, ": leave it out, or undo that merge first") {
		t.Errorf("to another merge it is %v", got)
	}
	lifted, err := build.Unfence(t.Context(), p, into, worlds, job.Options{})
	if want := []job.Lifted{{Database: "s1", Server: "1"}, {Database: "s2", Server: "2"}}; err != nil || !cmp.Equal(lifted, want) {
		t.Fatalf("got %v, %v", lifted, err)
	}
	free(true) // which moves the marks

	p = worldtest.MustPlan(t, into, worlds, planner.PlanOptions{})
	fence()
	if refusals, err := build.Ready(t.Context(), p, into, worlds, job.Options{}); err != nil || len(refusals) > 0 {
		t.Fatalf("its own fences block it: %v, %v", refusals, err)
	}
	worldtest.MustApply(t, p, into, worlds)
	worldtest.Startable(t, worlds[1], 2, false)
	if proof := worldtest.Verified(t, p, into, worlds); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	refused := new(record.RefusedError)
	if _, err := build.Unfence(t.Context(), p, into, worlds, job.Options{}); !errors.As(err, &refused) {
		t.Errorf("lifting the fences of a merge that is completed: %v", err)
	}
	worldtest.Opened(t, p, into, worlds)
	worldtest.Recordless(t, into)
	_, err = build.Unfence(t.Context(), p, into, worlds, job.Options{})
	worldtest.RefusedBecause(t, "lifting the fences", "is missing or has another name", err)
	worldtest.Startable(t, worlds[1], 2, false)
}

// A kill at any point of fencing leaves what Apply and Undo accept.
func TestFenceInterrupted(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 2, "a"), worldtest.GameWorld(t, e, "s2", 2, 2, "b"), worldtest.GameWorld(t, e, "s3", 3, 2, "c")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		worlds := worldtest.Clones(t, e, all)
		var points []string
		h := job.Hooks{Fail: func(point string) error { points = append(points, point); return nil }}
		if err := build.FenceWith(t.Context(), p, into, worlds, job.Options{}, h); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for n, point := range points {
			if !strings.Contains(point, "guard") && !strings.Contains(point, "fence") {
				continue
			}
			seen++
			worldtest.RefillAll(t, all, worlds)
			err := build.FenceWith(t.Context(), p, into, worlds, job.Options{}, job.Hooks{Fail: worldtest.At(int64(n), func() error { return context.Canceled })})
			if err == nil {
				t.Fatalf("point %d, %s: no error", n, point)
			}
			if seen%2 == 0 {
				if _, err := build.Apply(t.Context(), p, into, worlds, job.Options{}); err != nil {
					t.Fatalf("point %d, %s: %v", n, point, err)
				}
			}
			if _, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Fatalf("point %d, %s: %v", n, point, err)
			}
			worldtest.Startable(t, worlds[0], 1, true)
			worldtest.Startable(t, worlds[1], 2, true)
			worldtest.Startable(t, worlds[2], 3, true)
		}
		if seen < 6 {
			t.Errorf("%d points, want those of each database: %q", seen, points)
		}
	})
}
