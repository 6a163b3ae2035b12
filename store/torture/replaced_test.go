//go:build linux

package torture

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFileReplaced takes SQLite's file away under a process that mints and inserts, and
// starts another process on what is there then: an older copy, or nothing. The first one
// ends and says why; no ID comes twice, and no row is confirmed that is not in the file.
func TestFileReplaced(t *testing.T) {
	for name, copied := range map[string]bool{"removed": false, "replaced by a copy": true} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			dsn := sqliteDSN(t)
			path := strings.TrimPrefix(dsn, "sqlite:")
			w := NewWorld(t)
			for range times(1, 10) {
				first := w.Start(windowed(dsn, 3*time.Second))
				first.Await(Opened)
				first.AwaitRows(5)
				older, err := os.ReadFile(path)
				must(t, err)
				first.AwaitRows(5)
				for _, companion := range []string{"-wal", "-shm", ""} {
					if err := os.Remove(path + companion); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
				}
				if copied {
					must(t, os.WriteFile(path, older, 0o600))
				}
				w.Fault()
				confirmed := first.Confirmed()
				second := w.Start(windowed(dsn, 3*time.Second))
				for second.Await(Opened, Refused).What == Refused { // in a copy, the first one has the lease
					second = w.Start(windowed(dsn, 3*time.Second))
				}
				second.AwaitMore(5000)
				e := first.Await(Lost, Closed)
				if !strings.Contains(e.Error, path) || !strings.Contains(e.Error, "removed or replaced") {
					t.Errorf("the first process ends: %+v", e)
				}
				first.Wait()
				if n := first.Confirmed() - confirmed; n > 1 { // one may have been under way
					t.Errorf("%d rows were confirmed after the file was gone", n)
				}
				second.AwaitRows(5)
				second.Close()
				must(t, os.Remove(path))
			}
			w.Check(nil) // the rows are gone with the file
		})
	}
}
