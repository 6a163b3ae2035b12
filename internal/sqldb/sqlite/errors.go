package sqlite

import (
	"fmt"
	"reflect"
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
	switch kind := kind(e.code); kind {
	case nil:
		return err, true
	case sqldb.ErrDuplicate:
		return duplicate(e, err), true
	case sqldb.ErrDiskFull:
		return &diskFullError{err}, true
	default:
		return fmt.Errorf("%w: %w", kind, err), true
	}
}

// diskFullError says nothing else: SQLite may call it an "I/O error (4874)".
type diskFullError struct{ err error }

func (e *diskFullError) Error() string   { return "the disk is full" }
func (e *diskFullError) Unwrap() []error { return []error{sqldb.ErrDiskFull, e.err} }

func kind(code int) error {
	switch code { // extended codes
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return sqldb.ErrDuplicate
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return sqldb.ErrForeignKey
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // the second while -shm grows
		return sqldb.ErrDiskFull
	case sqlite3.SQLITE_IOERR_LOCK: // of a file that could be opened for reading only
		return sqldb.ErrReadOnly
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
		if e.code == sqlite3.SQLITE_READONLY_ROLLBACK {
			return fmt.Errorf("a process was killed while it wrote to the file, and what it had begun is to be taken back from its -journal: open it once with a program that may write, such as sqlite3: %w", err)
		}
		code := e.code & 0xff
		switch {
		case code == sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("the file is not an SQLite database: %w", err)
		case code == sqlite3.SQLITE_CANTOPEN, kind(e.code) == sqldb.ErrReadOnly, code == sqlite3.SQLITE_PERM:
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
		return e.code == sqlite3.SQLITE_ERROR || // and none of the extended ones, which say to try again
			e.code == sqlite3.SQLITE_CONSTRAINT_DATATYPE // a virtual column of a STRICT table
	case sqldb.Damaged:
		return e.code&0xff == sqlite3.SQLITE_NOTADB || e.code&0xff == sqlite3.SQLITE_CORRUPT
	case sqldb.Incomparable:
		return strings.Contains(e.text, "no such collation sequence")
	}
	return false
}

// sqliteError is what an error of a driver of SQLite says.
type sqliteError struct {
	code int // the extended one, if the driver tells it
	text string
}

// asSQLite finds the error of a driver of SQLite in err. Besides the driver of
// our own pools it knows others, which a game may use, without importing them:
// any type of a package whose path has sqlite in it, with fields (mattn) or
// methods (modernc, glebarez, ncruces) named ExtendedCode or Code.
func asSQLite(err error) (found sqliteError, ok bool) {
	if err == nil {
		return found, false
	}
	if code, ok := sqliteCode(reflect.ValueOf(err)); ok {
		return sqliteError{code, err.Error()}, true
	}
	switch wrapped := err.(type) {
	case interface{ Unwrap() error }:
		return asSQLite(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		for _, err := range wrapped.Unwrap() {
			if found, ok = asSQLite(err); ok {
				return found, ok
			}
		}
	}
	return found, false
}

func sqliteCode(v reflect.Value) (code int, ok bool) {
	value := reflect.Indirect(v)
	if !value.IsValid() || !strings.Contains(strings.ToLower(value.Type().PkgPath()), "sqlite") {
		return 0, false
	}
	for _, name := range []string{"ExtendedCode", "Code"} {
		if method := v.MethodByName(name); method.IsValid() && method.Type().NumIn() == 0 && method.Type().NumOut() == 1 {
			code, ok = integer(method.Call(nil)[0])
		} else if value.Kind() == reflect.Struct {
			code, ok = integer(value.FieldByName(name))
		}
		if ok && code != 0 { // mattn leaves the extended code out of some errors
			return code, true
		}
	}
	return integer(value) // a bare code that is an error, as mattn has
}

func integer(v reflect.Value) (int, bool) {
	switch {
	case !v.IsValid():
		return 0, false
	case v.CanInt():
		return int(v.Int()), true
	case v.CanUint():
		return int(v.Uint()), true
	}
	return 0, false
}
