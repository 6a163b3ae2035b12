package sqlite

import (
	"fmt"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"mergesafe/internal/sqldb"
)

// Meaning implements [sqldb.Engine].
func (engine) Meaning(err error) (meant error, known bool) {
	e, ok := asSQLite(err)
	if !ok {
		return err, false
	}
	if kind := kind(e.code); kind == sqldb.ErrDuplicate {
		return duplicate(e, err), true
	} else if kind != nil {
		return fmt.Errorf("%w: %w", kind, err), true
	}
	return err, true
}

func kind(code int) error {
	switch code { // extended codes
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return sqldb.ErrDuplicate
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return sqldb.ErrForeignKey
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the second while -shm grows
		return sqldb.ErrDiskFull
	}
	switch code & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return sqldb.ErrInvalid
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return sqldb.ErrRetryable
	case sqlite3.SQLITE_READONLY:
		return sqldb.ErrReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return sqldb.ErrDamaged
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS:
		return sqldb.ErrUnavailable
	}
	return nil
}

// duplicate reads the key from
//
//	constraint failed: UNIQUE constraint failed: players.name (2067)
//	constraint failed: UNIQUE constraint failed: a.x, a.y (2067)
//	UNIQUE constraint failed: a.x, a.y                              mattn
func duplicate(e sqliteError, err error) error {
	var table, key string
	const before = "UNIQUE constraint failed: "
	if i := strings.LastIndex(e.text, before); i >= 0 {
		names, _, _ := strings.Cut(e.text[i+len(before):], " (")
		table, _, _ = strings.Cut(names, ".")
		key = strings.ReplaceAll(names, table+".", "")
	}
	if e.code != sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		key = "PRIMARY"
	}
	return sqldb.Duplicate(table, key, err)
}

// Refused implements [sqldb.Engine].
func (engine) Refused(err error) (refused, known bool) {
	e, ok := asSQLite(err)
	return ok && e.code&0xff != sqlite3.SQLITE_IOERR, ok
}

// Explain implements [sqldb.Engine].
func (engine) Explain(err error, _ bool) error {
	if e, ok := asSQLite(err); ok {
		switch e.code & 0xff {
		case sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("the file is not an SQLite database: %w", err)
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return fmt.Errorf("the file, or one beside it (-wal, -shm, -journal), cannot be opened: check the rights to file and directory: %w", err)
		}
	}
	return nil
}

// Says implements [sqldb.Engine]. SQLite says some things in errors that have no number of their own.
func (engine) Says(err error, c sqldb.Condition) bool {
	e, ok := asSQLite(err)
	if !ok {
		return false
	}
	switch c {
	case sqldb.Refused:
		return e.code&0xff == sqlite3.SQLITE_ERROR
	case sqldb.NeverEvaluates:
		return e.code == sqlite3.SQLITE_ERROR // and none of the extended ones, which say to try again
	case sqldb.Damaged:
		return e.code&0xff == sqlite3.SQLITE_NOTADB || e.code&0xff == sqlite3.SQLITE_CORRUPT
	case sqldb.Incomparable:
		return strings.Contains(e.text, "no such collation sequence")
	}
	return false
}
