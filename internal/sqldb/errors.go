package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
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

	// ErrDiskFull is an [ErrUnavailable]; so a server says of a limit of its own, too.
	ErrDiskFull = fmt.Errorf("%w: the disk is full, or the server's quota on it is used up", ErrUnavailable)

	// ErrDamaged is an [ErrUnavailable] that stays: what the file of SQLite holds is no database.
	ErrDamaged = fmt.Errorf("%w: the file is damaged: restore it from its backup", ErrUnavailable)

	// ErrOutcomeUnknown comes together with [ErrUnavailable] or the error of a context that ended.
	ErrOutcomeUnknown = errors.New("outcome unknown, the change may have been made")

	ErrReadOnly = errors.New("read-only")
	ErrChanged  = errors.New("the file was changed while it was read: another process is writing to it")
	ErrSchema   = errors.New("not the expected schema") // a [*SchemaError]
)

// ErrReplaced: the file of an SQLite database is not at its path any more. A process that has
// it open writes on, into a file that no other process finds, and that is gone when it ends.
var ErrReplaced = errors.New("it was removed or replaced while this process had it open: " +
	"stop the process, then put the right file there")

// DuplicateError says which unique key has the value already.
type DuplicateError struct {
	// Table and Key name the key: "PRIMARY" for the primary one, otherwise the
	// name of the index in MySQL and the columns in SQLite. An index named
	// after its column has the same name in both, as in this package: "name".
	// They are empty if the driver did not tell.
	Table, Key string

	err error
}

// Duplicate makes a [*DuplicateError] of the error of a driver.
func Duplicate(table, key string, err error) error { return &DuplicateError{table, key, err} }

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
	for _, kind := range []error{ErrDuplicate, ErrForeignKey, ErrInvalid, ErrRetryable, ErrUnavailable, ErrReadOnly} {
		if errors.Is(err, kind) {
			return err
		}
	}
	var meant error
	if each(func(e Engine) (known bool) { meant, known = e.Meaning(err); return known }) {
		return meant
	}
	if Lost(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// Lost reports whether the connection is gone.
func Lost(err error) bool {
	for _, e := range []error{driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	_, ok := errors.AsType[net.Error](err) // what the system says of a file, too
	if errors.Is(err, fs.ErrPermission) {
		_, ok = errors.AsType[*net.OpError](err)
	}
	return ok && !errors.Is(err, context.DeadlineExceeded)
}

// refused reports whether err says for sure that what was asked for was not
// done: the database answered, or was not asked.
func refused(err error) (yes bool) {
	if each(func(e Engine) (known bool) { yes, known = e.Refused(err); return known }) {
		return yes
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || // says that nothing was sent
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
}

func IsContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Explain turns an error of the first connection into what to do about it. plain
// tells that the connection would not have been encrypted.
func Explain(err error, plain bool) error {
	var told error
	if each(func(e Engine) bool { told = e.Explain(err, plain); return told != nil }) {
		return told
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("no address found for the host %q: check its name and the name server: %w", e.Name, err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" && e.Addr != nil {
		return fmt.Errorf("nothing answers at %s: check that the server is running and the address is right: %w", e.Addr, err)
	}
	return err
}

// IsDenied reports whether the account has no right to do something, or the
// server accepts no writes.
func IsDenied(err error) bool { return errors.Is(err, ErrReadOnly) || Says(err, LacksARight) }

// Condition is what an answer of a database says, beyond the errors of this package.
type Condition int

// The conditions. An error that is no answer of a database, or that a dialect does not know, has none of them.
const (
	// Refused: a statement is not carried out, for whatever reason that is not the server's state. Rights and
	// conflicts are others.
	Refused Condition = iota

	// NeverEvaluates: a query cannot be carried out because of its text, or of a value that it read: the same query
	// will always fail. The connection, and its snapshot if it has one, can still be used.
	NeverEvaluates

	LacksARight       // the account has no right, also if it could not be done for another reason
	NoTable           // there is no such table
	NoDatabase        // there is no such database, or the session's own was dropped
	Redefined         // a table was altered, or dropped and made again, since the snapshot began
	LockWait          // it gave up waiting for the lock of a row
	RolledBack        // the transaction has ended: a further statement would be one of its own
	UnknownVariable   // there is no such setting
	Syntax            // the syntax is not known
	Incomparable      // there is no collation to compare texts by; in SQLite it is one that the game defines for itself
	Damaged           // the file is no database, or one that is damaged
	TableThere        // a table, or another thing, that was to be made is there
	StalePlan         // a prepared statement was not carried out, and can be prepared anew
	TooManyStatements // no further statement can be prepared
	ModeBound         // a generated column depends on a setting of the session
)

// Says reports whether any database answers that.
func Says(err error, c Condition) bool {
	return err != nil && each(func(e Engine) bool { return e.Says(err, c) })
}

// LockedError says who has locked a file of SQLite.
type LockedError struct {
	By  string // "python3 (pid 4711)"
	Err error
}

func (e *LockedError) Error() string { return "the file is locked by " + e.By + ": " + e.Err.Error() }

func (e *LockedError) Unwrap() error { return e.Err }
