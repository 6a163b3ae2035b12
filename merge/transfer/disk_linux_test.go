package transfer

import (
	"errors"
	"testing"

	"mergesafe/internal/smalldisk"
	"mergesafe/merge"
	"mergesafe/store"
)

// A full disk stops the merge, resumable. With room again it resumes and completes.
func TestDiskFull(t *testing.T) {
	small := smalldisk.Mount(t, "6m")
	e := sqliteIn(func(t testing.TB) string { return t.(*testing.T).TempDir() })
	source := manyRows(t, e, "b", 100_000, 20_000)
	target := manyRows(t, sqliteIn(func(testing.TB) string { return small.Path() }), "a", 1, 10)
	p := mustPlan(t, target, []Database{source}, manyOptions)

	if err := small.Fill(512 << 10); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := Apply(t.Context(), p, target, []Database{source}, Options{RetryFor: -1})
		if !errors.Is(err, ErrStopped) || !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("with a full disk: %v", err)
		}
	}
	if err := small.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), p, target, []Database{source}, Options{}); err != nil {
		t.Fatal(err)
	}
	if proof := verified(t, p, target, []Database{source}); proof.Verdict != merge.Pass {
		t.Errorf("%+v", proof)
	}
}
