package sqldb

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	sqlite3 "modernc.org/sqlite/lib"
)

// answered reports whether err is one of these answers of a MySQL server.
func answered(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}

// said reports whether SQLite said that in an error that has no number of its
// own.
func said(err error, text string) bool {
	e, ok := asSQLite(err)
	return ok && strings.Contains(e.text, text)
}

// IsDenied reports whether the account has no right to do something, or the
// server accepts no writes.
func IsDenied(err error) bool {
	return errors.Is(err, ErrReadOnly) || LacksRight(err)
}

// LacksRight reports whether this MySQL server says that the account has no right to
// do something, also if it could not be done for another reason.
func LacksRight(err error) bool {
	return answered(err,
		1044, // no access to the database
		1142, // no such right on the table
		1143, // or the column
		1227, // needs a global right
		1370) // or one on a routine
}

// IsNoTable reports whether a table does not exist in MySQL.
func IsNoTable(err error) bool { return answered(err, 1146) }

// isElsewhere reports whether this server accepts no writes, or does not serve,
// while another one may: after a switch a connection leads to the wrong one.
func isElsewhere(err error) bool {
	return answered(err,
		1047, // a Galera node that has lost its cluster
		1290, // --read-only, --super-read-only
		1836, // read-only mode
		3032, // offline mode
		3100) // a group that could not take the transaction
}

// IsLockWait reports whether this MySQL server gave up waiting for the lock of a row.
func IsLockWait(err error) bool { return answered(err, 1205) }

// IsUnknownVariable reports whether this MySQL server has no such setting.
func IsUnknownVariable(err error) bool { return answered(err, 1193) }

// IsSyntax reports whether this MySQL server does not know the syntax.
func IsSyntax(err error) bool { return answered(err, 1064) }

// IsIncomparable reports whether the database has no collation to compare
// texts by. In SQLite it is one that the game defines for itself.
func IsIncomparable(err error) bool {
	return answered(err,
		1115,    // unknown character set
		1273,    // unknown collation
		1253,    // the collation is not one of the character set
		1267) || // two collations, and none is the stronger
		said(err, "no such collation sequence")
}

// IsUnsafe reports whether a statement that changes rows was refused because it would have
// read the whole table (sql_safe_updates).
func IsUnsafe(err error) bool { return answered(err, 1175) }

// CannotEvaluate reports whether the database answered that it cannot carry out a
// query, because of the text of the query or of a value that it read: then the same
// query will always fail. The connection, and its snapshot if it has one, can still be used.
// Of an error that it does not know it is false: that is an error, and no finding.
func CannotEvaluate(err error) bool {
	if e, ok := asSQLite(err); ok {
		return e.code == sqlite3.SQLITE_ERROR // and none of the extended ones, which say to try again
	}
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || !IsRefused(err) || isTooManyStatements(err) {
		return false
	}
	switch string(e.SQLState[:2]) {
	case "0A", "21", "22", "42": // not supported; number of rows, values, and words of a statement
		return true
	}
	return answered(err,
		1267, 1270, 1271, 1273, // collations
		1366, 1411, 3064, 4078, 4079, // values and types of arguments
		1436) || // an expression that is nested too deep
		3685 <= e.Number && e.Number <= 3699 // regular expressions of MySQL
}

// IsRefused reports whether the database answered that it does not carry out a statement,
// for whatever reason that is not its state. Rights and conflicts have functions of their own.
func IsRefused(err error) bool {
	if e, ok := asSQLite(err); ok {
		return e.code&0xff == sqlite3.SQLITE_ERROR
	}
	if _, ok := errors.AsType[*mysql.MySQLError](err); !ok {
		return false
	}
	translated := Translate(err)
	return !errors.Is(translated, ErrUnavailable) && !errors.Is(translated, ErrRetryable) && !IsDenied(err)
}

// IsDamaged reports whether SQLite says that a file is no database, or one that is damaged.
func IsDamaged(err error) bool {
	e, ok := asSQLite(err)
	return ok && (e.code&0xff == sqlite3.SQLITE_NOTADB || e.code&0xff == sqlite3.SQLITE_CORRUPT)
}

// isColumnThere reports whether a column that was to be added is there.
func isColumnThere(err error) bool {
	return answered(err, 1060) || said(err, "duplicate column name")
}

// checkThere returns the name of a CHECK that was to be added and is there, in
// this table or in another one, as MySQL tells it:
//
//	Duplicate check constraint name 'players_number'.
func checkThere(err error) (name string, there bool) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || e.Number != 3822 { // ER_CHECK_CONSTRAINT_DUP_NAME
		return "", false
	}
	_, name, _ = strings.Cut(e.Message, "'")
	return strings.TrimSuffix(strings.TrimSuffix(name, "."), "'"), true
}

// isTooManyStatements reports whether a server that many games share has as
// many prepared statements as it takes.
func isTooManyStatements(err error) bool { return answered(err, 1461) }
