package build_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// beside returns the names of an SQLite file and of the files that SQLite keeps beside it.
func beside(d world.Database) (all []string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		all = append(all, strings.TrimPrefix(d.DSN, "sqlite:")+suffix)
	}
	return all
}

// An undo that is killed while it removes the files leaves either the whole database, which the next undo removes, or nothing.
// While it is frozen, no other process can open the database. Once the database file is gone, it removes nothing more: a later
// database may have the name, with rows that are only in its -wal.
func TestUndoRemovesAFile(t *testing.T) {
	e := worldtest.Engines()[0]
	for _, point := range []string{"before checkpoint", "before removing -shm", "before removing -journal", "before removing -wal", "before removing ", "after removing"} {
		t.Run(point, func(t *testing.T) {
			all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
			p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
			gone := point == "after removing"
			if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, killedBefore(point)); err == nil {
				t.Fatal("it was not killed")
			}
			at, err := build.LookUp(t.Context(), p, into, all)
			if err != nil || at.State != map[bool]record.State{false: record.StateUndoing, true: record.StateNone}[gone] {
				t.Errorf("killed: %+v, %v", at, err)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once}); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Errorf("the undo after it: %v", err)
			}
			for _, name := range beside(into) {
				if _, err := os.Lstat(name); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", name, err)
				}
			}

			worldtest.MustApply(t, p, into, all)
			var there []os.FileInfo
			_, err = build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, job.Hooks{Fail: func(at string) error {
				if at != point || there != nil {
					return nil
				}
				_, others := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once})
				if !gone {
					if !errors.Is(others, record.ErrStopped) || !strings.Contains(others.Error(), "locked by") && !strings.Contains(others.Error(), "is still open in") {
						t.Errorf("another undo came between: %v", others)
					}
					return nil
				}
				worldtest.MustApply(t, p, into, all)
				worldtest.Opened(t, p, into, all)
				game := worldtest.Pool(t, into) // which stays open
				if _, err := game.Exec("INSERT INTO things (id, note) VALUES (77, 'played')"); err != nil {
					t.Fatal(err)
				}
				for _, name := range beside(into)[:3] {
					info, err := os.Stat(name)
					if err != nil {
						t.Fatal(err)
					}
					there = append(there, info)
				}
				return nil
			}})
			if !gone && err != nil {
				t.Errorf("nobody came between: %v", err)
			}
			for i, was := range there {
				if now, err := os.Stat(beside(into)[i]); err != nil || !os.SameFile(was, now) {
					t.Errorf("%s is another one: %v", was.Name(), err)
				}
			}
			if gone && worldtest.Number(t, into, "SELECT COUNT(*) FROM things WHERE note = 'played'") != 1 {
				t.Error("what was played is gone")
			}
		})
	}
}

// While a game has a file open, it is not removed: the game would go on in a file without a name.
func TestUndoOfAFileInUse(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
	game := worldtest.Pool(t, into)
	if err := game.Ping(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := game.QueryRow("SELECT COUNT(*) FROM things").Scan(&n); err != nil {
		t.Fatal(err)
	}
	_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once})
	if !errors.Is(err, record.ErrStopped) || !strings.Contains(err.Error(), `the file of "new" is still open in `) {
		t.Errorf("got %v", err)
	}
	game.Close()
	worldtest.MustDrop(t, p, into, all)
}

// What a game writes to a file while undo waits for it to close the file is not lost, nor a number that it is given then.
func TestUndoOfAFileInUseLosesNothing(t *testing.T) {
	e := worldtest.Engines()[0]
	for _, mode := range []string{"WAL", "DELETE"} {
		for _, force := range []bool{false, true} {
			var all []world.Database
			for i, name := range []string{"s1", "s2"} {
				w := e.Fresh(t, name)
				worldtest.Exec(t, w, "CREATE TABLE things (id INTEGER PRIMARY KEY AUTOINCREMENT)", fmt.Sprintf("INSERT INTO things VALUES (%d)", 100*i+1))
				all = append(all, w)
			}
			p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
			worldtest.Opened(t, p, into, all)
			worldtest.Exec(t, into, "PRAGMA journal_mode = "+mode)
			game, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(into.DSN, "sqlite:")+"?_busy_timeout=0")
			if err != nil {
				t.Fatal(err)
			}
			defer game.Close()
			game.SetMaxOpenConns(1)
			reading, err := game.Begin()
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			if err := reading.QueryRow("SELECT COUNT(*) FROM things").Scan(&n); err != nil {
				t.Fatal(err)
			}
			given := int64(0)
			waits := job.Options{Retrying: func(error) { // for the file
				if given > 0 {
					return
				}
				reading.Commit()
				if err := game.QueryRow("INSERT INTO things DEFAULT VALUES RETURNING id").Scan(&given); err != nil {
					t.Error(err)
				}
				game.Close()
			}}
			_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: waits, Force: force})
			if !force {
				worldtest.RefusedBecause(t, "undo", "it has 3 rows, but was made with 2: changes there would be lost", err)
				worldtest.Asked(t, into, "SELECT COUNT(*) FROM things", "3")
				continue
			}
			worldtest.Exec(t, all[0], "INSERT INTO things DEFAULT VALUES")
			if next := worldtest.Number(t, all[0], "SELECT MAX(id) FROM things"); err != nil || given != 102 || next <= given {
				t.Errorf("%s: the game was given %d, then the world gave %d: %v", mode, given, next, err)
			}
		}
	}
}

// A game that has the file open without a lock can write nothing to it when it is removed, however it keeps its journal.
func TestUndoOfAFileOpenWithoutALock(t *testing.T) {
	e := worldtest.Engines()[0]
	for _, mode := range []string{"DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"} {
		all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
		p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
		worldtest.Exec(t, into, "PRAGMA journal_mode = DELETE")
		game, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(into.DSN, "sqlite:")+"?_pragma=journal_mode("+mode+")")
		if err != nil {
			t.Fatal(err)
		}
		defer game.Close()
		game.SetMaxOpenConns(1)
		var n int
		if err := game.QueryRow("SELECT COUNT(*) FROM things").Scan(&n); err != nil {
			t.Fatal(err)
		}
		worldtest.MustDrop(t, p, into, all)
		if _, err := game.Exec("INSERT INTO things (id, note) VALUES (77, 'late')"); err == nil {
			t.Errorf("%s: a row is acknowledged, and lost", mode)
		}
	}
}

// A process was killed while it wrote to a world that has no write-ahead log, as an undo that raises its counters may be:
// what it had begun is taken back, and the undo goes on.
func TestUndoOfAWorldInTheMiddle(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	worldtest.Exec(t, all[0], "PRAGMA journal_mode = DELETE")
	p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
	path := strings.TrimPrefix(all[0].DSN, "sqlite:")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA cache_size = 1", "BEGIN", "UPDATE things SET note = 'begun'", "CREATE TABLE more (x BLOB)", "INSERT INTO more VALUES (zeroblob(300000))"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	killed := make(map[string][]byte)
	for _, name := range []string{path, path + "-journal"} {
		if killed[name], err = os.ReadFile(name); err != nil || len(killed[name]) == 0 {
			t.Fatal(err)
		}
	}
	db.Close()
	for name, bytes := range killed {
		if err := os.WriteFile(name, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reads := &world.Connection{Database: all[0]}
	defer reads.Close()
	if _, err := reads.Number(t.Context(), "SELECT COUNT(*) FROM things", false); err == nil || !strings.Contains(err.Error(), "open it once with a program that may write") {
		t.Errorf("got %v", err)
	}
	worldtest.MustDrop(t, p, into, all)
	if n := worldtest.Number(t, all[0], "SELECT COUNT(*) FROM things WHERE note = 'begun'"); n != 0 {
		t.Errorf("%d rows are as the killed process began to write them", n)
	}
}

// A database that others moved to another disk, and left a link to, is removed where it is.
func TestUndoOfALinkedFile(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
	path, moved := strings.TrimPrefix(into.DSN, "sqlite:"), filepath.Join(t.TempDir(), "moved.db")
	worldtest.Exec(t, into, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err := errors.Join(os.Rename(path, moved), os.Symlink(moved, path), os.WriteFile(path+"-wal", []byte("not ours"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{path: false, moved: false, moved + "-wal": false, path + "-wal": true} {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s is there: %v", filepath.Base(name), err == nil)
		}
	}
}
