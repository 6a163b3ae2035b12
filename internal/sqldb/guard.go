package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// queryer is what runs queries: a pool, a connection, a transaction.
type queryer interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
}

// Guarded returns db for statements that rely on the settings of their session, such as
// those on which uniqueness rests. On a pool that is not ours each call then takes a
// connection, gives it the settings that the code relies on, and restores the former
// settings before the game has the connection again.
func (db *DB) Guarded() *DB {
	if !db.ours {
		db.guard = true
	}
	return db
}

// with runs f on what the session works on.
func (s *Session) with(ctx context.Context, f func(on queryer) error) error {
	switch {
	case s.tx != nil:
		return f(s.on)
	case s.db.guard:
		return s.db.guarded(ctx, func(conn *sqlx.Conn) error { return f(conn) })
	case s.db.manual:
		return s.db.exclusively(ctx, f)
	}
	return f(s.on)
}

// exclusively runs f in a transaction of its own.
func (db *DB) exclusively(ctx context.Context, f func(on queryer) error) error {
	begun, err := db.pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() // does nothing after the commit
	if err := f(begun); err != nil {
		return err
	}
	err = begun.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		err = ctx.Err() // which is why it was rolled back
	}
	return err
}

// guarded runs f on a connection with the right settings.
func (db *DB) guarded(ctx context.Context, f func(*sqlx.Conn) error) error {
	conn, err := db.pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	set, was, err := db.otherwise(ctx, conn)
	if err != nil {
		discard(conn)
		return err
	}
	if len(set) == 0 {
		return f(conn)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		if execAll(ctx, conn, was) != nil {
			discard(conn)
		}
	}()
	if err := execAll(ctx, conn, set); err != nil {
		return cannotSet(was, set, err)
	}
	if still, _, err := db.otherwise(ctx, conn); err != nil || len(still) > 0 {
		return cmp.Or(err, fmt.Errorf("the session does not keep its settings: after %q it needs %q; is there a proxy that changes them?", set, still))
	}
	return f(conn)
}

func execAll(ctx context.Context, on sqlx.ExecerContext, statements []string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// discard closes a connection: whatever happens, the game does not get one with
// other settings than it had.
func discard(conn *sqlx.Conn) { conn.Raw(func(any) error { return driver.ErrBadConn }) }

// restoreTimeout is how long a connection may take to get back its settings. One
// that takes longer is closed.
const restoreTimeout = 2 * time.Second

// otherwise returns what gives a connection of another pool the settings, and
// what puts back those that it had; both empty if it has the right ones. The
// database that it is in is one of them: that of the first connection is right.
// After an error the connection may have others than before.
func (db *DB) otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	if db.dialect == SQLite {
		if err := db.sameFile(ctx, conn); err != nil {
			return nil, nil, err
		}
		return pragmasOtherwise(ctx, conn)
	}
	columns := make(map[string]any)
	if err := conn.QueryRowxContext(ctx, showSettings).MapScan(columns); err != nil {
		return nil, nil, err
	}
	has := make(map[string]string)
	for name, value := range columns {
		has[name] = text(value)
	}
	if err := tellsSettings(has); err != nil {
		return nil, nil, err
	}
	selected := has["selected"]
	db.database.CompareAndSwap(nil, &selected)
	if database := *db.database.Load(); selected != database {
		// No statement leads a session back to no database: it fails, and the connection is closed.
		set, was = append(set, "USE "+MySQL.Quote(database)), append(was, "USE "+MySQL.Quote(selected))
	}
	toSet, toPutBack := differing(has)
	if slices.ContainsFunc(toSet, func(s string) bool { return strings.HasPrefix(s, "character_set_connection ") }) {
		toPutBack = append(toPutBack, "collation_connection = "+quoteText(has["collation_connection"])) // goes by the character set otherwise
	}
	if len(toSet) > 0 {
		set = append(set, "SET SESSION "+strings.Join(toSet, ", "))
		was = append(was, "SET SESSION "+strings.Join(toPutBack, ", "))
	}
	return set, was, nil
}

// selectPairs is [readPairs] on a connection of any pool.
func selectPairs(ctx context.Context, conn *sqlx.Conn, query string) (map[string]string, error) {
	rows, err := conn.QueryxContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	has := make(map[string]string)
	for rows.Next() {
		var name string
		var value []byte
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		has[strings.ToLower(name)] = string(value)
	}
	return has, rows.Err()
}

// pragmasOtherwise is otherwise for SQLite.
func pragmasOtherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	for _, pragma := range []struct {
		name        string
		least, good int
	}{
		{"busy_timeout", 1000, int(BusyTimeout.Milliseconds())},
		{"synchronous", 2, 2}, // FULL: a transaction is on the disk before its commit returns
	} {
		var has int
		if err := conn.GetContext(ctx, &has, "PRAGMA "+pragma.name); err != nil {
			return nil, nil, err
		}
		if has < pragma.least {
			set = append(set, fmt.Sprintf("PRAGMA %s = %d", pragma.name, pragma.good))
			was = append(was, fmt.Sprintf("PRAGMA %s = %d", pragma.name, has))
		}
	}
	return set, was, nil
}

// mustForbid reports whether a transaction is to be read-only and the database
// does not see to that: drivers of SQLite leave it to the caller.
func (db *DB) mustForbid(options *sql.TxOptions) bool {
	return db.dialect == SQLite && options != nil && !db.readOnly
}

// forbid has a connection of SQLite refuse writes. What it returns allows them
// again, unless they were forbidden before.
func forbid(ctx context.Context, conn *sqlx.Conn, begun *sqlx.Tx) (allow func(), err error) {
	var forbidden bool
	if err := begun.GetContext(ctx, &forbidden, "PRAGMA query_only"); err != nil || forbidden {
		return func() {}, err
	}
	allow = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTimeout)
		defer cancel()
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
			discard(conn)
		}
	}
	// After BEGIN IMMEDIATE, which it would refuse.
	if _, err := begun.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
		allow()
		return nil, err
	}
	return allow, nil
}
