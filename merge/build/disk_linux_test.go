package build_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/smalldisk"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
)

// stoppedByAFullDisk is a merge into a file on a small disk, which is full.
func stoppedByAFullDisk(t *testing.T) (small *smalldisk.Disk, p *plan.Plan, into world.Database, all []world.Database) {
	t.Helper()
	small = smalldisk.Mount(t, "6m")
	e := worldtest.Engines()[0]
	all = []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 20_000)}
	p, into = worldtest.PlanOf(t, worldtest.SqliteIn(func(testing.TB) string { return small.Path() }), all, worldtest.ManyOptions)
	if err := small.Fill(512 << 10); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := build.Apply(t.Context(), p, into, all, job.Options{RetryFor: -1})
		if !errors.Is(err, record.ErrStopped) || !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("with a full disk: %v", err)
		}
	}
	return small, p, into, all
}

// A full disk stops the merge, resumable. With room again it resumes and completes.
func TestDiskFull(t *testing.T) {
	small, p, into, all := stoppedByAFullDisk(t)
	if err := small.Free(); err != nil {
		t.Fatal(err)
	}
	worldtest.MustApply(t, p, into, all)
	if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
}

// A merge that is made and not opened is undone on a full disk: what is dropped makes room.
func TestUndoOnAFullDisk(t *testing.T) {
	small := smalldisk.Mount(t, "6m")
	e := worldtest.SqliteIn(func(testing.TB) string { return small.Path() })
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 10, "anna"), worldtest.GameWorld(t, e, "s2", 2, 10, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	if err := small.Fill(0); err != nil {
		t.Fatal(err)
	}
	done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once})
	if err != nil || !done.Dropped || len(done.Lifted) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

// So is one that stopped because the disk is full, with rows for which only -wal had room. What is left of it then stays:
// without the file, the name may be that of another database.
func TestUndoOfAFullDisk(t *testing.T) {
	small, p, into, all := stoppedByAFullDisk(t)
	if err := small.Fill(0); err != nil {
		t.Fatal(err)
	}
	done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once})
	if err != nil || !done.Dropped {
		t.Errorf("%+v, %v", done, err)
	}
	log := beside(into)[1]
	if !slices.ContainsFunc(done.Notes, func(note string) bool { return strings.Contains(note, "rm "+log) }) {
		t.Errorf("%s is left, and only %q is said", log, done.Notes)
	}
	if _, err := build.Apply(t.Context(), p, into, all, once); err == nil || !strings.Contains(err.Error(), "remove the rest: rm "+log) {
		t.Errorf("apply beside what is left: %v", err)
	}
	if err := small.Free(); err != nil {
		t.Fatal(err)
	}
	for _, name := range beside(into) {
		os.Remove(name)
	}
	worldtest.MustApply(t, p, into, all)
}

// The undo of an opened merge needs room for the counters that it raises. On a full disk it stops, and what is there is read
// as before.
func TestUndoOfAnOpenedOnAFullDisk(t *testing.T) {
	small := smalldisk.Mount(t, "6m")
	e := worldtest.SqliteIn(func(testing.TB) string { return small.Path() })
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 10, "anna"), worldtest.GameWorld(t, e, "s2", 2, 10, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, "DELETE FROM items")
	if err := small.Fill(0); err != nil {
		t.Fatal(err)
	}
	forced := build.UndoOptions{Options: once, Force: true}
	if _, err := build.Undo(t.Context(), p, into, all, forced); !errors.Is(err, record.ErrStopped) || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("got %v", err)
	}
	if is, err := build.LookUp(t.Context(), p, into, all); err != nil || is.State != record.StateOpen {
		t.Errorf("got %+v, %v", is, err)
	}
	if err := small.Free(); err != nil {
		t.Fatal(err)
	}
	if done, err := build.Undo(t.Context(), p, into, all, forced); err != nil || !done.Dropped {
		t.Errorf("%+v, %v", done, err)
	}
}
