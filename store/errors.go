package store

import "mergesafe/internal/sqldb"

// The errors that callers branch on, with errors.Is. They wrap the error of the driver
// too. The packages below this one return the same errors.
var (
	// ErrNotFound: there is no such row.
	ErrNotFound = sqldb.ErrNotFound

	// ErrDuplicate: a row with the same primary or unique key exists already. The error
	// is a [*DuplicateError] that tells which key.
	ErrDuplicate = sqldb.ErrDuplicate

	// ErrForeignKey: a row references one that does not exist, or a referenced row
	// would be deleted.
	ErrForeignKey = sqldb.ErrForeignKey

	// ErrInvalid: a value is too long, out of range, NULL, or not accepted by its
	// column for another reason. If the Validate method of a row says so before, its
	// error is returned instead.
	ErrInvalid = sqldb.ErrInvalid

	// ErrRetryable: the transaction was rolled back because of another one. A retry
	// will probably succeed; [DB.InTx] retries.
	ErrRetryable = sqldb.ErrRetryable

	// ErrUnavailable: the database cannot be reached, lost the connection or
	// cannot serve.
	ErrUnavailable = sqldb.ErrUnavailable

	// ErrOutcomeUnknown: a change was requested, and it is not known whether it was made: no answer
	// came, or SQLite confirmed the change but it is not known whether its file is still at its
	// path. Check before you repeat the change. The error is also [ErrUnavailable] or the error of
	// a context that ended.
	ErrOutcomeUnknown = sqldb.ErrOutcomeUnknown

	// ErrReadOnly: the database or the transaction is read-only.
	ErrReadOnly = sqldb.ErrReadOnly

	// ErrChanged: a database opened by [OpenReadOnly] was changed while it was read, so
	// the rows read may not belong together.
	ErrChanged = sqldb.ErrChanged

	// ErrReplaced: the file of an SQLite database was removed or replaced while this process
	// has it open. Other processes cannot see what this process wrote since.
	ErrReplaced = sqldb.ErrReplaced

	// ErrSchema: tables are missing, unfinished, of another version or of
	// another program. The error is a [*SchemaError].
	ErrSchema = sqldb.ErrSchema
)

// DuplicateError says in which Table and in which unique Key the value exists already. Key is
// "PRIMARY" for the primary key, otherwise the name of the index
// in MySQL and the columns in SQLite. An index named after its column has the
// same name in both. Table and Key are empty if the driver did not name them.
type DuplicateError = sqldb.DuplicateError

// SchemaError says why the tables of a database cannot be used: its Reason says what is
// wrong and what to do. errors.Is finds [ErrSchema] in it.
type SchemaError = sqldb.SchemaError

// Translate translates an error of a driver, for instance from a call on [DB.Pool],
// to an error of this package: errors.Is then finds [ErrDuplicate],
// [ErrForeignKey], [ErrInvalid], [ErrRetryable], [ErrUnavailable] or
// [ErrReadOnly] in it. It returns any other error unchanged.
func Translate(err error) error { return sqldb.Translate(err) }
