package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mergesafe/internal/sqldb"
)

// A database that was opened to be read, and closed, is not kept open: a process may read thousands, and the room of one that
// is deleted is free at once.
func TestNoFileStaysOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.db")
	game, _, err := openSQLite(path, sqldb.ReadWrite)
	must(t, err)
	conn, err := game.Connect(t.Context())
	must(t, err)
	must(t, conn.Close())
	open := func() (n int) {
		all, err := os.ReadDir("/proc/self/fd")
		must(t, err)
		for _, fd := range all {
			if file, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(file, path) {
				n++
			}
		}
		return n
	}
	reading, _, err := openSQLite(path, sqldb.ReadOnly)
	must(t, err)
	if n := open(); n != 0 {
		t.Errorf("%d files are open, want none before the first connection", n)
	}
	conn, err = reading.Connect(t.Context())
	must(t, err)
	if n := open(); n != 1 {
		t.Errorf("%d files are open, want the one that is read", n)
	}
	must(t, conn.Close())
	if n := open(); n != 0 {
		t.Errorf("%d files are open after the end", n)
	}
}

// The read of a named pipe would wait for a writer.
func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(path, 0o600))
	for _, access := range []sqldb.Access{sqldb.ReadWrite, sqldb.ReadOnly, sqldb.WriteExisting} {
		if _, _, err := openSQLite(path, access); err == nil || !strings.Contains(err.Error(), "it is a device or a pipe") {
			t.Errorf("got %v", err)
		}
	}
}
