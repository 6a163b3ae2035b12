package mysql

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// Meaning implements [sqldb.Engine].
func (engine) Meaning(err error) (meant error, known bool) {
	if isConflict(err) {
		return fmt.Errorf("%w: %w", sqldb.ErrRetryable, err), true
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		if kind := kind(e); kind == sqldb.ErrDuplicate {
			return duplicate(e), true
		} else if kind != nil {
			return fmt.Errorf("%w: %w", kind, err), true
		}
		return err, true
	}
	if errors.Is(err, mysql.ErrInvalidConn) {
		return fmt.Errorf("%w: %w", sqldb.ErrUnavailable, err), true
	}
	return err, false
}

func kind(e *mysql.MySQLError) error {
	switch e.Number {
	case 1022, // ER_DUP_KEY
		1062, // ER_DUP_ENTRY
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		return sqldb.ErrDuplicate
	case 1216, 1217, // ER_NO_REFERENCED_ROW, ER_ROW_IS_REFERENCED
		1451, 1452, // the same with the name of the key
		1761, 1762: // ER_FOREIGN_DUPLICATE_KEY_...
		return sqldb.ErrForeignKey
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
		return sqldb.ErrInvalid
	case 1205, // ER_LOCK_WAIT_TIMEOUT
		1213, // ER_LOCK_DEADLOCK; also a certification failure of Galera
		1020, // ER_CHECKREAD, MariaDB's innodb_snapshot_isolation
		1615, // ER_NEED_REPREPARE
		8022, // TiDB: commit failed, safe to retry
		9007: // TiDB: write conflict
		return sqldb.ErrRetryable
	case 1180: // ER_ERROR_DURING_COMMIT
		if deadlocked.MatchString(e.Message) {
			return sqldb.ErrRetryable
		}
		return sqldb.ErrUnavailable
	case 1021, 1114: // ER_DISK_FULL, ER_RECORD_FILE_FULL: "The table is full"
		return sqldb.ErrDiskFull
	case 14, // EE_CANT_CHSIZE: a file cannot grow, MariaDB does not say why
		1040, 1203, 1226, // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED
		1047,                   // ER_UNKNOWN_COM_ERROR: a Galera node that has lost its cluster
		1053,                   // ER_SERVER_SHUTDOWN
		1041,                   // out of memory
		1152, 1158, 1159, 1160, // aborted connection, network errors
		1161,       // ER_NET_WRITE_INTERRUPTED
		1317,       // ER_QUERY_INTERRUPTED
		1878,       // ER_TEMP_FILE_WRITE_FAILURE
		1927, 3169, // connection or session killed
		3032,       // ER_SERVER_OFFLINE_MODE
		3100, 3101, // a group that could not take the transaction, or perhaps; see conflictError
		3796, 3797, 3798, 3812, 3813, // held back before it began, until a new primary or another member has caught up
		4031: // ER_CLIENT_INTERACTION_TIMEOUT
		return sqldb.ErrUnavailable
	case 1290, // ER_OPTION_PREVENTS_STATEMENT: --read-only
		1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
		1836: // ER_READ_ONLY_MODE
		return sqldb.ErrReadOnly
	case 1, 3, // EE_CANTCREATEFILE, EE_WRITE
		1004, 1005, 1006, // ER_CANT_CREATE_FILE, _TABLE, _DB
		1025, 1026, // ER_ERROR_ON_RENAME, ER_ERROR_ON_WRITE
		1030: // ER_GET_ERRNO
		if noRoom.MatchString(e.Message) {
			return sqldb.ErrDiskFull
		}
	}
	return nil
}

// Warning is a warning of a server as the error that another statement or mode makes of it.
func Warning(code uint16, message string) error {
	return &mysql.MySQLError{Number: code, Message: message}
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

// duplicate reads the key from
//
//	Duplicate entry 'Aria' for key 'name'            MariaDB
//	Duplicate entry 'Aria' for key 'players.name'    MySQL 8
func duplicate(e *mysql.MySQLError) error {
	var table, key string
	if i := strings.LastIndex(e.Message, " for key '"); i >= 0 {
		key = strings.TrimSuffix(e.Message[i+len(" for key '"):], "'")
		if before, after, ok := strings.Cut(key, "."); ok {
			table, key = before, after
		}
	}
	return sqldb.Duplicate(table, key, e)
}

// Refused implements [sqldb.Engine].
func (engine) Refused(err error) (refused, known bool) {
	if _, ok := errors.AsType[*hostsError](err); ok {
		return true, true
	}
	if _, ok := errors.AsType[*silentError](err); ok {
		return true, true
	}
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1053, 1927, 3169, 3100: // shut down, killed or failed, perhaps during a commit
			return false, true
		case 1180:
			return deadlocked.MatchString(e.Message), true
		case 3101:
			return isConflict(err), true
		}
		return true, true
	}
	yes := errors.Is(err, mysql.ErrPktTooLarge)
	return yes, yes
}

// Explain implements [sqldb.Engine].
func (engine) Explain(err error, plain bool) error {
	if _, ok := errors.AsType[*hostsError](err); ok {
		return err // it explains each host
	}
	hint := func(text string) error { return fmt.Errorf("%s: %w", text, err) }
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch e.Number {
		case 1045, 1698:
			if plain { // MySQL does not tell which it is
				return hint("user or password is wrong, or the account must use TLS (REQUIRE SSL): then add tls=true to the DSN")
			}
			return hint("user or password is wrong, or the account needs another client certificate (REQUIRE X509, ISSUER or SUBJECT)")
		case 3159:
			return hint("the server accepts only encrypted connections: add tls=true to the DSN")
		case 1044:
			return hint("the account has no right to this database, or the database does not exist")
		case 1049:
			return hint("no such database: create it first, or correct the name")
		}
	}
	if errors.Is(err, mysql.ErrUnknownPlugin) {
		// So do accounts of MariaDB with PARSEC, from 11.6 on (mariadb.com/docs: authentication-plugin-parsec).
		return hint("this program does not support the account's authentication plugin: use another, such as " +
			"caching_sha2_password on MySQL, ed25519 or mysql_native_password on MariaDB (ALTER USER)")
	}
	return explainTLS(err)
}

// answered reports whether err is one of these answers of a server.
func answered(err error, numbers ...uint16) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && slices.Contains(numbers, e.Number)
}

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

// conditions are the answers that mean one thing.
var conditions = map[sqldb.Condition][]uint16{
	sqldb.LacksARight: {
		1044, // no access to the database
		1142, // no such right on the table
		1143, // or the column
		1227, // needs a global right
		1370, // or one on a routine
	},
	sqldb.NoTable:         {1146},
	sqldb.NoDatabase:      {1046, 1049},
	sqldb.Redefined:       {1412},
	sqldb.LockWait:        {1205},
	sqldb.RolledBack:      {1213},
	sqldb.UnknownVariable: {1193},
	sqldb.Syntax:          {1064},
	sqldb.Incomparable: {
		1115, // unknown character set
		1273, // unknown collation
		1253, // the collation is not one of the character set
		1267, // two collations, and none is the stronger
	},
	sqldb.TooManyStatements: {1461}, // of a server that many games share
	sqldb.ModeBound:         {1901},
}

// Says implements [sqldb.Engine].
func (engine) Says(err error, c sqldb.Condition) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	switch {
	case !ok:
		return false
	case c == sqldb.Refused:
		translated := sqldb.Translate(err)
		return !errors.Is(translated, sqldb.ErrUnavailable) && !errors.Is(translated, sqldb.ErrRetryable) && !sqldb.IsDenied(err)
	case c == sqldb.NeverEvaluates:
		return cannotEvaluate(e, err)
	}
	return answered(err, conditions[c]...)
}

func cannotEvaluate(e *mysql.MySQLError, err error) bool {
	if !sqldb.Says(err, sqldb.Refused) || answered(err, conditions[sqldb.TooManyStatements]...) {
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

// CheckThere returns the name of a CHECK that was to be added and is there, in
// this table or in another one, as MySQL tells it:
//
//	Duplicate check constraint name 'players_number'.
func (engine) CheckThere(err error) (name, tables string) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || e.Number != 3822 { // ER_CHECK_CONSTRAINT_DUP_NAME
		return "", ""
	}
	_, name, _ = strings.Cut(e.Message, "'")
	return strings.TrimSuffix(strings.TrimSuffix(name, "."), "'"), tableOfCheck
}

const tableOfCheck = `SELECT TABLE_NAME AS name FROM information_schema.TABLE_CONSTRAINTS
	WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_NAME = ? AND CONSTRAINT_TYPE = 'CHECK'`
