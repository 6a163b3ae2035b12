package store

import "mergesafe/internal/sqldb"

// The errors that callers branch on, with errors.Is. The error of the driver is wrapped
// beside them. The packages below this one return the same.
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
	// column for another reason. Rows with a Validate method that says so sooner return
	// its error instead.
	ErrInvalid = sqldb.ErrInvalid

	// ErrRetryable: the transaction was rolled back because of another one. A retry
	// will probably succeed; [DB.InTx] retries.
	ErrRetryable = sqldb.ErrRetryable

	// ErrUnavailable: the database cannot be reached, lost the connection or
	// cannot serve.
	ErrUnavailable = sqldb.ErrUnavailable

	// ErrOutcomeUnknown: a change was requested and may have been made or not: the answer did
	// not come, or SQLite confirmed the change and nothing told whether its file is still at its
	// path. Check before you repeat it. It comes together with [ErrUnavailable] or the error of
	// a context that ended.
	ErrOutcomeUnknown = sqldb.ErrOutcomeUnknown

	// ErrReadOnly: the database or the transaction is read-only.
	ErrReadOnly = sqldb.ErrReadOnly

	// ErrChanged: a database opened by [OpenReadOnly] was changed while it was read, so
	// the rows read may not belong together.
	ErrChanged = sqldb.ErrChanged

	// ErrReplaced: the file of an SQLite database was removed or replaced while this process
	// has it open. What it wrote since is in no file that another process can open.
	ErrReplaced = sqldb.ErrReplaced

	// ErrSchema: tables are missing, unfinished, of another version or of
	// another program. The error is a [*SchemaError].
	ErrSchema = sqldb.ErrSchema
)

// DuplicateError says which unique key has the value already: by Table, and by
// Key, which is "PRIMARY" for the primary one, otherwise the name of the index
// in MySQL and the columns in SQLite. An index named after its column has the
// same name in both. They are empty if the driver did not say.
type DuplicateError = sqldb.DuplicateError

// SchemaError says why the tables of a database cannot be used: its Reason says what is
// wrong and what to do. errors.Is finds [ErrSchema] in it.
type SchemaError = sqldb.SchemaError

// Translate gives an error of a driver, such as comes from [DB.Pool], the
// meaning that it has in this package: errors.Is then finds [ErrDuplicate],
// [ErrForeignKey], [ErrInvalid], [ErrRetryable], [ErrUnavailable] or
// [ErrReadOnly] in it. An error that means nothing in particular is returned as
// it is.
func Translate(err error) error { return sqldb.Translate(err) }
