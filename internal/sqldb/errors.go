package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
	sqlite3 "modernc.org/sqlite/lib"
)

// What callers branch on, with errors.Is. The error of the driver is wrapped with it. Package store, which
// names them again for games, says what each of them means.
var (
	ErrNotFound    = errors.New("not found")
	ErrDuplicate   = errors.New("duplicate key") // a [*DuplicateError] tells which
	ErrForeignKey  = errors.New("foreign key violated")
	ErrInvalid     = errors.New("value refused by the database")
	ErrRetryable   = errors.New("in conflict with another transaction, try again") // see [Retry]
	ErrUnavailable = errors.New("database unavailable")

	// ErrDamaged is an [ErrUnavailable] that stays: what the file of SQLite holds is no database.
	ErrDamaged = fmt.Errorf("%w: the file is damaged: restore it from its backup", ErrUnavailable)

	// ErrOutcomeUnknown comes together with [ErrUnavailable] or the error of a context that ended.
	ErrOutcomeUnknown = errors.New("outcome unknown, the change may have been made")

	ErrReadOnly = errors.New("read-only")
	ErrChanged  = errors.New("the file was changed while it was read: a game server has been started on it")
	ErrSchema   = errors.New("not the expected schema") // a [*SchemaError]
)

// DuplicateError says which unique key has the value already.
type DuplicateError struct {
	// Table and Key name the key: "PRIMARY" for the primary one, otherwise the
	// name of the index in MySQL and the columns in SQLite. An index named
	// after its column has the same name in both, as in this package: "name".
	// They are empty if the driver did not tell.
	Table, Key string

	err error
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%v %s: %v", ErrDuplicate, strings.TrimPrefix(e.Table+"."+e.Key, "."), e.err)
}

// Unwrap returns [ErrDuplicate] and the error of the driver.
func (e *DuplicateError) Unwrap() []error { return []error{ErrDuplicate, e.err} }

// OpError is an error of an operation on the database.
type OpError struct {
	What string // the operation
	Err  error
}

func (e *OpError) Error() string { return "store: " + e.What + ": " + e.Err.Error() }
func (e *OpError) Unwrap() error { return e.Err }

// Translate adds to an error of a driver what it means. An error that means
// nothing in particular is returned as it is, and so is one that was
// translated before.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*hostsError](err); ok {
		return err
	}
	for _, kind := range []error{ErrDuplicate, ErrForeignKey, ErrInvalid, ErrRetryable, ErrUnavailable, ErrReadOnly} {
		if errors.Is(err, kind) {
			return err
		}
	}
	if isConflict(err) {
		return fmt.Errorf("%w: %w", ErrRetryable, err)
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		if kind := mysqlKind(e); kind == ErrDuplicate {
			return mysqlDuplicate(e)
		} else if kind != nil {
			return fmt.Errorf("%w: %w", kind, err)
		}
		return err
	}
	if e, ok := asSQLite(err); ok {
		if kind := sqliteKind(e.code); kind == ErrDuplicate {
			return sqliteDuplicate(e, err)
		} else if kind != nil {
			return fmt.Errorf("%w: %w", kind, err)
		}
		return err
	}
	if lost(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// lost reports whether the connection is gone.
func lost(err error) bool {
	for _, e := range []error{mysql.ErrInvalidConn, driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	_, ok := errors.AsType[net.Error](err)
	return ok && !errors.Is(err, context.DeadlineExceeded)
}

func mysqlKind(e *mysql.MySQLError) error {
	switch e.Number {
	case 1022, // ER_DUP_KEY
		1062, // ER_DUP_ENTRY
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		return ErrDuplicate
	case 1216, 1217, // ER_NO_REFERENCED_ROW, ER_ROW_IS_REFERENCED
		1451, 1452, // the same with the name of the key
		1761, 1762: // ER_FOREIGN_DUPLICATE_KEY_...
		return ErrForeignKey
	case 1048, // ER_BAD_NULL_ERROR
		1264, // ER_WARN_DATA_OUT_OF_RANGE
		1265, // WARN_DATA_TRUNCATED
		1292, // ER_TRUNCATED_WRONG_VALUE
		1364, // ER_NO_DEFAULT_FOR_FIELD
		1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
		1406, // ER_DATA_TOO_LONG
		1690, // ER_DATA_OUT_OF_RANGE
		3819, // ER_CHECK_CONSTRAINT_VIOLATED of MySQL
		4025: // ER_CONSTRAINT_FAILED of MariaDB
		return ErrInvalid
	case 1205, // ER_LOCK_WAIT_TIMEOUT
		1213, // ER_LOCK_DEADLOCK; also a certification failure of Galera
		1020, // ER_CHECKREAD, MariaDB's innodb_snapshot_isolation
		1615, // ER_NEED_REPREPARE
		8022, // TiDB: commit failed, safe to retry
		9007: // TiDB: write conflict
		return ErrRetryable
	case 1180: // ER_ERROR_DURING_COMMIT
		if deadlocked.MatchString(e.Message) {
			return ErrRetryable
		}
		return ErrUnavailable
	case 14, // EE_CANT_CHSIZE: a file cannot grow, MariaDB does not say why
		1040, 1203, 1226, // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED
		1047,             // ER_UNKNOWN_COM_ERROR: a Galera node that has lost its cluster
		1053,             // ER_SERVER_SHUTDOWN
		1021, 1041, 1114, // disk full, out of memory, table full
		1152, 1158, 1159, 1160, // aborted connection, network errors
		1161,       // ER_NET_WRITE_INTERRUPTED
		1317,       // ER_QUERY_INTERRUPTED
		1878,       // ER_TEMP_FILE_WRITE_FAILURE
		1927, 3169, // connection or session killed
		3032,       // ER_SERVER_OFFLINE_MODE
		3100, 3101, // a group that could not take the transaction, or perhaps; see conflictError
		3796, 3797, 3798, 3812, 3813, // held back before it began, until a new primary or another member has caught up
		4031: // ER_CLIENT_INTERACTION_TIMEOUT
		return ErrUnavailable
	case 1290, // ER_OPTION_PREVENTS_STATEMENT: --read-only
		1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
		1836: // ER_READ_ONLY_MODE
		return ErrReadOnly
	case 1, 3, // EE_CANTCREATEFILE, EE_WRITE
		1004, 1005, 1006, // ER_CANT_CREATE_FILE, _TABLE, _DB
		1025, 1026, // ER_ERROR_ON_RENAME, ER_ERROR_ON_WRITE
		1030: // ER_GET_ERRNO
		if noRoom.MatchString(e.Message) {
			return ErrUnavailable
		}
	}
	return nil
}

// deadlocked finds in the message of a COMMIT that failed that the transaction
// was rolled back for one that came from the group.
//
//	Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT
var deadlocked = regexp.MustCompile(`(?i)\berror 149\b`)

// conflictError is a transaction that a group has rolled back (3101), because it
// was in conflict with another one. A member that loses its group says the same
// of transactions which the others may have taken: then it is an outcome that is
// not known, and no conflictError.
type conflictError struct{ err error }

func (e *conflictError) Error() string { return e.err.Error() }
func (e *conflictError) Unwrap() error { return e.err }

func isConflict(err error) bool {
	_, ok := errors.AsType[*conflictError](err)
	return ok
}

// noRoom finds the full disk in messages of errors that have other causes as
// well. 28 is the system's ENOSPC, and 135 what InnoDB says of a new table.
//
//	Can't create table `s1`.`items` (errno: 135 "No more room in record file")
//	Error writing file '/tmp/MYfd=53' (Errcode: 28 "No space left on device")    MariaDB
//	Error writing file '/tmp/MYfd=53' (OS errno 28 - No space left on device)    MySQL 8
//	Got error 28 "No space left on device" from storage engine Aria
var noRoom = regexp.MustCompile(`(?i)\b(?:errno:?|errcode:|got error) (?:28|135)\b`)

func sqliteKind(code int) error {
	switch code { // extended codes
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return ErrDuplicate
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ErrForeignKey
	}
	switch code & 0xff {
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH:
		return ErrInvalid
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrRetryable
	case sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS:
		return ErrUnavailable
	}
	return nil
}

// mysqlDuplicate reads the key from
//
//	Duplicate entry 'Aria' for key 'name'            MariaDB
//	Duplicate entry 'Aria' for key 'players.name'    MySQL 8
func mysqlDuplicate(e *mysql.MySQLError) error {
	d := &DuplicateError{err: e}
	if i := strings.LastIndex(e.Message, " for key '"); i >= 0 {
		d.Key = strings.TrimSuffix(e.Message[i+len(" for key '"):], "'")
		if table, key, ok := strings.Cut(d.Key, "."); ok {
			d.Table, d.Key = table, key
		}
	}
	return d
}

// sqliteDuplicate reads the key from
//
//	constraint failed: UNIQUE constraint failed: players.name (2067)
//	constraint failed: UNIQUE constraint failed: a.x, a.y (2067)
//	UNIQUE constraint failed: a.x, a.y                              mattn
func sqliteDuplicate(e sqliteError, err error) error {
	d := &DuplicateError{err: err}
	const before = "UNIQUE constraint failed: "
	if i := strings.LastIndex(e.text, before); i >= 0 {
		names, _, _ := strings.Cut(e.text[i+len(before):], " (")
		d.Table, _, _ = strings.Cut(names, ".")
		d.Key = strings.ReplaceAll(names, d.Table+".", "")
	}
	if e.code != sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		d.Key = "PRIMARY"
	}
	return d
}

// refused reports whether err says for sure that what was asked for was not
// done: the database answered, or was not asked.
func refused(err error) bool {
	if _, ok := errors.AsType[*hostsError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1053, 1927, 3169, 3100: // shut down, killed or failed, perhaps during a commit
			return false
		case 1180:
			return deadlocked.MatchString(e.Message)
		case 3101:
			return isConflict(err)
		}
		return true
	}
	if e, ok := asSQLite(err); ok {
		return e.code&0xff != sqlite3.SQLITE_IOERR
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || // says that nothing was sent
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, mysql.ErrPktTooLarge)
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// explain turns an error of the first connection into what to do about it. plain
// tells that the connection would not have been encrypted.
func explain(err error, plain bool) error {
	if _, ok := errors.AsType[*hostsError](err); ok {
		return err // it explains each host
	}
	hint := func(format string, args ...any) error {
		return fmt.Errorf(format+": %w", append(args, err)...)
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1045, 1698:
			if plain { // MySQL does not tell which it is
				return hint("user or password is wrong, or the account must use TLS (REQUIRE SSL): then add tls=true to the DSN")
			}
			return hint("user or password is wrong, or the account needs another client certificate (REQUIRE X509, ISSUER or SUBJECT)")
		case 3159:
			return hint("the server takes encrypted connections only: add tls=true to the DSN")
		case 1044:
			return hint("the account has no right to this database, or there is none of this name")
		case 1049:
			return hint("no such database: create it first, or correct the name")
		}
	}
	if err := explainTLS(err); err != nil {
		return err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return hint("no address is known for the host %q: is its name right, and does the name server answer", e.Name)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" && e.Addr != nil {
		return hint("nothing answers at %s: is the server running, and is the address right", e.Addr)
	}
	if e, ok := asSQLite(err); ok {
		switch e.code & 0xff {
		case sqlite3.SQLITE_NOTADB:
			return hint("the file is not an SQLite database")
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return hint("the file, or one beside it (-wal, -shm, -journal), cannot be opened: check the rights to file and directory")
		}
	}
	return err
}
