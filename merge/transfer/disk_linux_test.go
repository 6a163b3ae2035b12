package transfer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mergesafe/merge"
	"mergesafe/store"
)

// A full disk stops the merge, resumable. With room again it goes on to its end.
func TestDiskFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount the small file system that this fills")
	}
	small, err := os.MkdirTemp("", "mergesafe-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(small) })
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=6m"); errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may not mount the small file system that this fills: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	e := sqliteIn(func(t testing.TB) string { return t.(*testing.T).TempDir() })
	source := manyRows(t, e, "b", 100_000, 20_000)
	target := manyRows(t, sqliteIn(func(testing.TB) string { return small }), "a", 1, 10)
	p := mustPlan(t, target, []Database{source}, manyOptions)

	ballast := filepath.Join(small, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, zeroes{}, 5<<20); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for range 2 {
		_, err = Apply(t.Context(), p, target, []Database{source}, Options{Patience: -1})
		if !errors.Is(err, ErrStopped) || !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("with a full disk: %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(t.Context(), p, target, []Database{source}, Options{}); err != nil {
		t.Fatal(err)
	}
	if proof := verified(t, p, target, []Database{source}); proof.Verdict != merge.Pass {
		t.Errorf("%+v", proof)
	}
}

// zeroes never ends.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
