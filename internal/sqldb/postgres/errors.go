package postgres

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"mergesafe/internal/sqldb"
)

// answer is an error that a server has sent, by pgx or lib/pq.
type answer interface {
	error
	SQLState() string
}

// state is the SQLSTATE of an answer; "" if err is none.
func state(err error) string {
	if e, ok := errors.AsType[answer](err); ok {
		return e.SQLState()
	}
	return ""
}

// Meaning implements [sqldb.Engine].
func (engine) Meaning(err error) (meant error, known bool) {
	code := state(err)
	kind := kindOf(code)
	switch {
	case code == "":
		e, unconnected := errors.AsType[*pgconn.ConnectError](err)
		switch {
		case unconnected && !sqldb.IsContext(e), errors.Is(err, pgconn.ErrConnClosed) && !sqldb.IsContext(err):
			return fmt.Errorf("%w: %w", sqldb.ErrUnavailable, err), true
		case rolledBack(err):
			return fmt.Errorf("nothing was changed, because an earlier statement had failed: %w", err), true
		case unfit(err):
			return fmt.Errorf("%w: %w", sqldb.ErrInvalid, err), true
		}
		return err, false
	case kind == sqldb.ErrDuplicate:
		return duplicate(err), true
	case stale(err):
		return fmt.Errorf("%w: %w", sqldb.ErrRetryable, err), true
	case kind != nil:
		return fmt.Errorf("%w: %w", kind, err), true
	}
	return err, true
}

// rolledBack reports whether a commit ended a transaction in which a statement had failed. The second is of lib/pq.
func rolledBack(err error) bool {
	const libpq = "complete operation in a failed transaction"
	return errors.Is(err, pgx.ErrTxCommitRollback) || strings.Contains(err.Error(), libpq)
}

// unfit reports whether pgx did not send a value, because the type of its column does not have it.
func unfit(err error) bool { return strings.Contains(err.Error(), "failed to encode args[") }

// stale reports whether a prepared statement was not carried out, since the types of its columns have changed.
func stale(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Routine == "RevalidateCachedQuery" // it has the SQLSTATE of what is not supported
}

// kindOf is what a SQLSTATE means. See "PostgreSQL Error Codes" in its documentation.
func kindOf(code string) error {
	switch code {
	case "":
		return nil
	case "23505", "23P01": // unique_violation, exclusion_violation
		return sqldb.ErrDuplicate
	case "23503", "23001": // foreign_key_violation, restrict_violation
		return sqldb.ErrForeignKey
	case "40001", "40P01", // serialization_failure, deadlock_detected
		"55P03": // lock_not_available
		return sqldb.ErrRetryable
	case "25006": // read_only_sql_transaction
		return sqldb.ErrReadOnly
	case "25P03", // idle_in_transaction_session_timeout
		"40003": // statement_completion_unknown
		return sqldb.ErrUnavailable
	}
	switch code[:2] {
	case "22", "23": // values, constraints
		return sqldb.ErrInvalid
	case "08", "53", "57", "58", "XX": // connections, resources, an operator, the system, damage
		return sqldb.ErrUnavailable
	}
	return nil
}

// unique finds the name of the key in the message:
//
//	duplicate key value violates unique constraint "players_name_key"
var unique = regexp.MustCompile(`unique constraint "([^"]*)"`)

// fields is the error of lib/pq, by whose letters the protocol has the table and the constraint.
type fields interface {
	error
	Get(field byte) string
}

// duplicate reads the key. The server names a key after its table and columns: players_pkey, players_name_key.
// One that was named by hand keeps its name.
func duplicate(err error) error {
	var table, key string
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		table, key = e.TableName, e.ConstraintName
	} else if e, ok := errors.AsType[fields](err); ok {
		table, key = e.Get('t'), e.Get('n')
	} else if m := unique.FindStringSubmatch(err.Error()); m != nil {
		key = m[1]
	}
	if strings.HasPrefix(key, "pg_") { // two processes made the same table at the same time
		return fmt.Errorf("%w: %w", sqldb.ErrRetryable, err)
	}
	if strings.HasSuffix(key, "_pkey") {
		return sqldb.Duplicate(table, "PRIMARY", err)
	}
	if short, ok := strings.CutSuffix(key, "_key"); ok && table != "" {
		key = strings.TrimPrefix(short, table+"_")
	}
	return sqldb.Duplicate(table, key, err)
}

// Refused implements [sqldb.Engine].
func (engine) Refused(err error) (refused, known bool) {
	code := state(err)
	if code == "" {
		_, unconnected := errors.AsType[*pgconn.ConnectError](err)
		_, ours := errors.AsType[*connectError](err)
		safe := unconnected || ours || pgconn.SafeToRetry(err) || rolledBack(err) || unfit(err)
		return safe, safe
	}
	switch {
	case strings.HasPrefix(code, "53"), code == "57014": // not carried out
		return code != "53100", true // a full disk may end the server during a commit
	case code == "57P03", // cannot_connect_now
		code == "57P05", code == "25P03": // idle_session_timeout, and in a transaction: they end who does not ask
		return true, true
	}
	return kindOf(code) != sqldb.ErrUnavailable, true
}

// Explain implements [sqldb.Engine].
func (engine) Explain(err error, plain bool) error {
	hint := func(text string) error { return fmt.Errorf("%s: %w", text, err) }
	switch state(err) {
	case "28P01":
		return hint("user or password is wrong")
	case "28000":
		if plain {
			return hint("the server refuses this connection of the account: if it must use TLS, add sslmode=verify-full to the DSN")
		}
		return hint("the server refuses this connection of the account: see its pg_hba.conf")
	case "3D000":
		return hint("no such database: create it first, or correct the name")
	case "42501":
		return hint("the account has no right to this database or schema")
	}
	return nil
}

var conditions = map[sqldb.Condition][]string{
	sqldb.LacksARight:     {"42501"},
	sqldb.NoTable:         {"42P01"},
	sqldb.LockWait:        {"55P03"},
	sqldb.UnknownVariable: {"42704"},
	sqldb.Syntax:          {"42601"},
	sqldb.TableThere:      {"42P07", "42710"}, // duplicate_object: a type, for one
}

// Says implements [sqldb.Engine].
func (engine) Says(err error, c sqldb.Condition) bool {
	code := state(err)
	if code == "" {
		return false
	}
	switch c {
	case sqldb.StalePlan:
		return stale(err)
	case sqldb.Refused:
		kind := kindOf(code)
		return kind != sqldb.ErrUnavailable && kind != sqldb.ErrRetryable && !sqldb.IsDenied(err)
	case sqldb.NeverEvaluates:
		return code[:2] == "22" || code[:2] == "42" && code != "42501"
	}
	for _, want := range conditions[c] {
		if code == want {
			return true
		}
	}
	return false
}
