package sqldb

import "errors"

// IsDenied reports whether the account has no right to do something, or the
// server accepts no writes.
func IsDenied(err error) bool { return errors.Is(err, ErrReadOnly) || LacksRight(err) }

// LacksRight reports whether this server says that the account has no right to
// do something, also if it could not be done for another reason.
func LacksRight(err error) bool { return says(err, LacksARight) }

// IsNoTable reports whether a table does not exist on a server.
func IsNoTable(err error) bool { return says(err, NoTable) }

// IsLockWait reports whether this server gave up waiting for the lock of a row.
func IsLockWait(err error) bool { return says(err, LockWait) }

// IsUnknownVariable reports whether this server has no such setting.
func IsUnknownVariable(err error) bool { return says(err, UnknownVariable) }

// IsSyntax reports whether this server does not know the syntax.
func IsSyntax(err error) bool { return says(err, Syntax) }

// IsIncomparable reports whether the database has no collation to compare
// texts by. In SQLite it is one that the game defines for itself.
func IsIncomparable(err error) bool { return says(err, Incomparable) }

// CannotEvaluate reports whether the database answered that it cannot carry out a
// query, because of the text of the query or of a value that it read: then the same
// query will always fail. The connection, and its snapshot if it has one, can still be used.
// Of an error that it does not know it is false: that is an error, and no finding.
func CannotEvaluate(err error) bool { return says(err, NeverEvaluates) }

// IsRefused reports whether the database answered that it does not carry out a statement,
// for whatever reason that is not its state. Rights and conflicts have functions of their own.
func IsRefused(err error) bool { return says(err, Refused) }

// IsDamaged reports whether SQLite says that a file is no database, or one that is damaged.
func IsDamaged(err error) bool { return says(err, Damaged) }
