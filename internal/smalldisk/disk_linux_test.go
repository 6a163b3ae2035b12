package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that is filled has the room that was asked for and no more, and all of it when it is freed.
func TestFillAndFree(t *testing.T) {
	d := Mount(t, "2m")
	write := func(n int) error {
		path := filepath.Join(d.Path(), "file")
		defer os.Remove(path)
		return os.WriteFile(path, make([]byte, n), 0o600)
	}
	for range 2 { // the second time it is full before
		if err := d.Fill(256 << 10); err != nil {
			t.Fatal(err)
		}
		if err := write(256 << 10); err != nil {
			t.Errorf("as much as was spared: %v", err)
		}
		if err := write(256<<10 + 1); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("more than was spared: %v, want that the disk is full", err)
		}
	}
	for range 2 {
		if err := d.Free(); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(1 << 20); err != nil {
		t.Errorf("after Free: %v", err)
	}
	if err := d.Fill(4 << 20); err == nil {
		t.Error("more was spared than the disk has")
	}
}
