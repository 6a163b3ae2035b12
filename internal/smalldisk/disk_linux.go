package smalldisk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a file system in memory that goes away with the test.
type Disk struct{ path string }

// Mount makes a disk of a size such as "6m". Where this user may not mount one, the test is skipped.
func Mount(t testing.TB, size string) *Disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount the small file system that this fills")
	}
	path, err := os.MkdirTemp("", "mergesafe-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(path) })
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "size="+size); errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may not mount the small file system that this fills: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return &Disk{path}
}

// Path is the folder that is the disk.
func (d *Disk) Path() string { return d.path }

// Fill takes all the room that is left but so many bytes, rounded down to blocks. A full disk is
// filled anew. It is an error if there is not that much room.
func (d *Disk) Fill(spare int64) error {
	f, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(f, zeroes{})
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("the disk %s did not get full by %d bytes: %w", d.path, n, err)
	}
	if n < spare {
		return fmt.Errorf("the disk %s had only %d bytes left, want %d", d.path, n, spare)
	}
	return f.Truncate(n - spare)
}

// Free gives back what Fill took. Freeing what is not filled is no error.
func (d *Disk) Free() error {
	err := os.Remove(d.ballast())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (d *Disk) ballast() string { return filepath.Join(d.path, "ballast") }

// zeroes never ends.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
