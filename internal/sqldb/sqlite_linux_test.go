package sqldb_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/sqlite"
	"mergesafe/store"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

const lockEnv = "MERGESAFE_TEST_LOCKS"

// TestLocker is no test: it is what the process of TestFileIsLocked does.
func TestLocker(t *testing.T) {
	dsn := os.Getenv(lockEnv)
	if dsn == "" {
		t.Skip("run by TestFileIsLocked")
	}
	if path, reads := strings.CutPrefix(dsn, "reads "); reads {
		db, err := sql.Open("sqlite", "file:"+path)
		must(t, err)
		tx, err := db.Begin()
		must(t, err)
		_, err = tx.Exec("SELECT COUNT(*) FROM sqlite_schema")
		must(t, err)
		fmt.Println("locked")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	must(t, open(t, dsn).InTx(t.Context(), func(*store.Tx) error {
		fmt.Println("locked")
		io.Copy(io.Discard, os.Stdin)
		return nil
	}))
}

// A call that waits for SQLite's lock in vain says that this is why, and who
// has it.
func TestFileIsLocked(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "game.db")
	db := withTables(t, dsn)
	pool := dial(t, dsn)
	node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return db.OpenNode(t.Context(), 7, o) }, time.Second)
	defer node.Close()
	changes := map[string]func(context.Context) error{
		"begin":  func(ctx context.Context) error { return db.InTx(ctx, func(*store.Tx) error { return nil }) },
		"insert": func(ctx context.Context) error { return starter.Players.Insert(ctx, db, player(1)) },
		"reserve": func(ctx context.Context) error {
			_, err := storetest.World(db).CompareAndSet(ctx, 8, gameid.Record{}, storetest.Claim)
			return err
		},
	}
	locked := func(who string) {
		t.Helper()
		if !kernelShowsLocks(t, strings.TrimPrefix(dsn, "sqlite:")+"-shm") {
			who = "another process, or another transaction of this one"
		}
		want := "the file is locked by " + who + ": "
		// On a busy machine one look may come to nothing: it is short.
		await(t, "the file is locked", func() bool { return sqlite.Locked(pool) })
		for what, change := range changes {
			await(t, what+" fails: "+want, func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				err := change(ctx)
				return errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), want)
			})
		}
		// A node says so when it has no more to give, of the last time that it asked: that may have been before.
		players := gameid.NewGenerator[struct{}](node)
		await(t, "the node says: "+want, func() bool {
			_, err := players.Next()
			exhausted, ok := errors.AsType[*gameid.ExhaustedError](err)
			return ok && strings.Contains(exhausted.Error(), want)
		})
	}

	name, unlock := lockedElsewhere(t, dsn)
	locked(name)
	unlock()

	must(t, db.InTx(t.Context(), func(*store.Tx) error {
		locked("another transaction of this process")
		return nil
	}))

	await(t, "the node recovers", func() bool { _, err := gameid.NewGenerator[struct{}](node).Next(); return err == nil })
	must(t, node.Close())
	if sqlite.Locked(pool) {
		t.Error("the file is locked by nobody")
	}
	// One that is only slow is not said to be locked.
	for what, change := range changes {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		if err := change(ctx); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "locked") {
			t.Errorf("%s, which nobody locks: %v", what, err)
		}
	}
}

// lockedElsewhere has another process lock a file until unlock, and names it.
func lockedElsewhere(t *testing.T, dsn string) (name string, unlock func()) {
	t.Helper()
	other := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLocker$")
	other.Env = append(os.Environ(), lockEnv+"="+dsn)
	stdin, err := other.StdinPipe()
	must(t, err)
	stdout, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return fmt.Sprintf("%.15s (pid %d)", filepath.Base(os.Args[0]), other.Process.Pid), func() {
		stdin.Close()
		must(t, other.Wait())
	}
}

// Who wants a file alone is told which process reads it.
func TestFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.db")
	made := dial(t, "sqlite:"+path)
	_, err := made.Pool().Exec("PRAGMA journal_mode = DELETE")
	must(t, err)
	exec(t, made, "CREATE TABLE t (a)")
	must(t, made.Close())
	name, unlock := lockedElsewhere(t, "reads "+path)
	defer unlock()
	if !kernelShowsLocks(t, path) {
		t.Skip("here the kernel tells of no locks")
	}
	alone, err := sqldb.Dial(t.Context(), "sqlite:"+path, sqldb.Alone)
	must(t, err)
	defer alone.Close()
	_, err = alone.Pool().Exec("BEGIN EXCLUSIVE")
	if by, is := errors.AsType[*sqldb.LockedError](alone.LockFault(err)); !is || by.By != name {
		t.Errorf("got %v, want a lock of %s", alone.LockFault(err), name)
	}
}

// kernelShowsLocks reports whether the kernel tells of the locks on a file. In
// some containers, and on layered file systems, it tells of others.
func kernelShowsLocks(t *testing.T, path string) bool {
	t.Helper()
	locks, err := os.ReadFile("/proc/locks")
	must(t, err)
	var file syscall.Stat_t
	must(t, syscall.Stat(path, &file))
	return strings.Contains(string(locks), fmt.Sprintf(":%02x:%d ", file.Dev&0xff|file.Dev>>12&^0xff, file.Ino))
}

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
		reader, err := sqldb.Dial(t.Context(), "sqlite:"+path, sqldb.ReadOnly)
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
			other, err := sqldb.Dial(t.Context(), "sqlite:"+path, sqldb.ReadOnly)
			must(t, err)
			must(t, other.Close())
		}
		await(t, fmt.Sprintf("%s: the %d locks are there", journal, before), func() bool { return locks(t, path) >= before })
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

// A change that was committed, while nothing tells whether the file is still at its path, may be in the file that others
// open or not: that is no plain failure.
func TestFileCannotBeLookedAt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(folder, 0o700))
	db := dial(t, "sqlite:"+filepath.Join(folder, "game.db"))
	exec(t, db, "CREATE TABLE notes (n INTEGER PRIMARY KEY)")
	insert := func(tx *sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO notes DEFAULT VALUES")
		return err
	}
	for i, change := range []func() error{
		func() error { _, err := db.Exec(t.Context(), "INSERT INTO notes DEFAULT VALUES"); return err },
		func() error { return db.InTx(t.Context(), insert) },
		func() error { return db.Change(t.Context(), "make a note", insert) },
	} {
		must(t, os.Rename(folder, folder+".old"))
		must(t, os.Symlink(folder, folder)) // to itself: what stat says is not that there is no file
		err := change()
		must(t, os.Remove(folder))
		must(t, os.Rename(folder+".old", folder))
		storetest.Is(t, err, []error{sqldb.ErrOutcomeUnknown, sqldb.ErrUnavailable}, sqldb.ErrReplaced)
		var notes int
		must(t, db.Get(t.Context(), &notes, "SELECT COUNT(*) FROM notes"))
		if notes != i+1 {
			t.Errorf("%d notes after change %d", notes, i+1)
		}
	}
}
