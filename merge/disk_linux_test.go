package merge

import (
	"errors"
	"testing"

	"mergesafe/internal/smalldisk"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
	"mergesafe/store"
)

// A full disk stops the merge, resumable. With room again it resumes and completes.
func TestDiskFull(t *testing.T) {
	small := smalldisk.Mount(t, "6m")
	e := sqliteIn(func(t testing.TB) string { return t.(*testing.T).TempDir() })
	all := []world.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 20_000)}
	p, into := planOf(t, sqliteIn(func(testing.TB) string { return small.Path() }), all, manyOptions)

	if err := small.Fill(512 << 10); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := build.Apply(t.Context(), p, into, all, job.Options{RetryFor: -1})
		if !errors.Is(err, record.ErrStopped) || !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("with a full disk: %v", err)
		}
	}
	if err := small.Free(); err != nil {
		t.Fatal(err)
	}
	mustApply(t, p, into, all)
	if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
}

// A merge that is made and not opened is undone on a full disk: what is dropped makes room.
func TestUndoOnAFullDisk(t *testing.T) {
	small := smalldisk.Mount(t, "6m")
	e := sqliteIn(func(testing.TB) string { return small.Path() })
	all := []world.Database{gameWorld(t, e, "s1", 1, 10, "anna"), gameWorld(t, e, "s2", 2, 10, "bert")}
	p, into := mergeOf(t, e, all, planner.PlanOptions{})
	if err := small.Fill(0); err != nil {
		t.Fatal(err)
	}
	done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once})
	if err != nil || !done.Dropped || len(done.Lifted) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}
