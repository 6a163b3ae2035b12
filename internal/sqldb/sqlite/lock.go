package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"mergesafe/internal/sqldb"
)

// LockFault implements [sqldb.Sessions]. A wait that a context ends says of itself only that.
func (s *sessions) LockFault(err error) error {
	if err == nil {
		return err
	}
	by := holderOf(s.db.Path)
	if s.db.WantsAlone() { // it may have the lock of who writes next, and waits for who reads
		by = cmp.Or(readerOf(s.db.Path), by)
	}
	switch {
	case !errors.Is(err, context.DeadlineExceeded) && !isBusy(err):
		return err
	case by != "":
		return &sqldb.LockedError{By: by, Err: err}
	case isBusy(err) || Locked(s.db):
		return &sqldb.LockedError{By: "another process, or another transaction of this one", Err: err}
	}
	return err
}

// Locked tries whether another connection has the lock.
func Locked(db *sqldb.DB) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	conn, err := db.Pool().Connx(ctx)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer sqldb.Discard(conn) // one that does not wait is not for others to use
	return isBusy(sqldb.ExecAll(ctx, conn, []string{"PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE"}))
}

func isBusy(err error) bool {
	e, ok := asSQLite(err)
	return ok && e.code&0xff == sqlite3.SQLITE_BUSY
}

// RowLock implements [sqldb.Engine]. A writer that is not frozen gives the lock back soon.
func (engine) RowLock(ctx context.Context, db *sqldb.DB, _ string, _ ...any) (string, error) {
	for end := time.Now().Add(sqldb.RowLockTimeout); ; {
		by := holderOf(db.Path)
		switch {
		case by == "":
			return "", nil
		case time.Now().After(end):
			return fmt.Sprintf("locked by %s, with the whole file: if that process is frozen or does not answer, end it: kill -9", by), nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
