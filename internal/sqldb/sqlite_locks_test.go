//go:build linux

package sqldb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mergesafe/internal/sqldb"
)

// Another connection of the process to the same file, opened and closed, takes no lock away.
func TestOpeningKeepsLocks(t *testing.T) {
	for _, journal := range []string{"DELETE", "WAL"} {
		path := filepath.Join(t.TempDir(), "game.db")
		made := dial(t, "sqlite:"+path)
		_, err := made.Pool().Exec("PRAGMA journal_mode = " + journal)
		must(t, err)
		_, err = made.Pool().Exec("CREATE TABLE t (a)")
		must(t, err)
		if journal == "DELETE" {
			must(t, made.Close())
		}
		reader, err := sqldb.Dial(t.Context(), "sqlite:"+path, true)
		must(t, err)
		defer reader.Close()
		tx, err := reader.Pool().BeginTxx(t.Context(), nil)
		must(t, err)
		defer tx.Rollback()
		var n int
		must(t, tx.Get(&n, "SELECT COUNT(*) FROM t"))
		before := locks(t, path)
		if before == 0 {
			t.Fatalf("%s: a transaction that reads has no lock", journal)
		}
		for range 2 {
			other, err := sqldb.Dial(t.Context(), "sqlite:"+path, true)
			must(t, err)
			must(t, other.Close())
		}
		if now := locks(t, path); now < before {
			t.Errorf("%s: %d locks, there were %d", journal, now, before)
		}
	}
}

// locks counts the locks on a database file and on its -shm. Linux may leave some out of its list while other
// processes change theirs, so it is read several times.
func locks(t *testing.T, path string) (most int) {
	t.Helper()
	for range 5 {
		held, err := os.ReadFile("/proc/locks")
		must(t, err)
		n := 0
		for _, suffix := range []string{"", "-shm"} {
			if info, err := os.Stat(path + suffix); err == nil {
				n += strings.Count(string(held), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino))
			}
		}
		most = max(most, n)
	}
	return most
}
