package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// LockFault says of the error of a change whether it waited in vain for the
// one lock that SQLite has for writers, and if possible who has that. A wait
// that a context ends says of itself only that.
func (db *DB) LockFault(err error) error {
	if db.dialect != SQLite || err == nil {
		return err
	}
	switch holder := lockHolder(db.path); {
	case !errors.Is(err, context.DeadlineExceeded) && !isBusy(err):
		return err
	case holder != "":
		return fmt.Errorf("the file is locked by %s: %w", holder, err)
	case isBusy(err) || db.locked():
		return fmt.Errorf("the file is locked by another process, or by another transaction of this one: %w", err)
	}
	return err
}

// locked tries whether somebody has the lock.
func (db *DB) locked() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	conn, err := db.pool.Connx(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer discard(conn) // one that does not wait is not for others to use
	return isBusy(execAll(ctx, conn, []string{"PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE"}))
}

func isBusy(err error) bool {
	e, ok := asSQLite(err)
	return ok && e.code&0xff == sqlite3.SQLITE_BUSY
}
