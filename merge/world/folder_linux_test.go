package world_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
)

// withoutRights calls f as an account that may not do what the mode of a file or folder does not let everybody do.
func withoutRights(t *testing.T, path string, mode os.FileMode, f func()) {
	t.Helper()
	is, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(path, is.Mode())
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0) // of this thread
	defer syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(os.Geteuid()), 0, 0)
	f()
}

// What an account may not do with a file or its folder names them.
func TestFolderWithoutRights(t *testing.T) {
	mine := t.TempDir()
	folder := filepath.Join(mine, "worlds")
	if err := errors.Join(os.Chmod(filepath.Dir(mine), 0o755), os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "w.db")
	w := world.Database{Name: "w", DSN: "sqlite:" + file}
	run(t, w, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	names := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), `"w`) || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v", what, err)
		}
		if errors.Is(sqldb.Translate(err), sqldb.ErrUnavailable) { // which is retried
			t.Errorf("%s: it is not for want of rights: %v", what, err)
		}
	}
	s := read(t, w)
	withoutRights(t, folder, 0o555, func() {
		made := world.Database{Name: "w2", DSN: "sqlite:" + filepath.Join(folder, "w2.db")}
		_, err := s.Create(t.Context(), made, nil)
		names("making a file", err)
	})
	withoutRights(t, folder, 0, func() {
		_, err := world.Exists(t.Context(), w)
		names("looking at a file", err)
	})
	c := &world.Connection{Database: w, Writes: true, Alone: true}
	defer c.Close()
	if err := world.Lock(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	withoutRights(t, folder, 0o555, func() {
		_, err := world.Remove(t.Context(), c)
		names("removing a file", err)
	})
	c.Close()
	withoutRights(t, file, 0o444, func() {
		c := &world.Connection{Database: w, Writes: true}
		defer c.Close()
		_, err := c.Exec(t.Context(), "insert", "INSERT INTO t VALUES (1)", false)
		names("writing to a file", err)
	})
	withoutRights(t, file, 0o444, func() {
		c := &world.Connection{Database: w, Writes: true, Alone: true}
		defer c.Close()
		names("locking a file", world.Lock(t.Context(), c))
	})
}
