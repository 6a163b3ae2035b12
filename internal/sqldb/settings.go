package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
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
		return s.db.Guard(ctx, func(conn *sqlx.Conn) error { return f(conn) })
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

// Guard runs f on a connection with the right settings. Those of a pool of ours have them from the beginning.
func (db *DB) Guard(ctx context.Context, f func(*sqlx.Conn) error) error {
	conn, err := db.pool.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if db.ours {
		return f(conn)
	}
	set, was, err := db.sessions.Otherwise(ctx, conn)
	if err != nil {
		Discard(conn)
		return err
	}
	if len(set) == 0 {
		return f(conn)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), RestoreTimeout)
		defer cancel()
		if ExecAll(ctx, conn, was) != nil {
			Discard(conn)
		}
	}()
	if err := ExecAll(ctx, conn, set); err != nil {
		return CannotSet(was, set, err)
	}
	if still, _, err := db.sessions.Otherwise(ctx, conn); err != nil || len(still) > 0 {
		return cmp.Or(err, fmt.Errorf("the session does not keep its settings: after %q it needs %q; does a proxy change them?", set, still))
	}
	return f(conn)
}

// RestoreTimeout is how long a connection may take to get back its settings. One
// that takes longer is closed.
const RestoreTimeout = 2 * time.Second

// CannotSet is the error of a session that did not take its settings.
func CannotSet(was, want []string, err error) error {
	return fmt.Errorf("the session has %s, but this program needs %s: %w", strings.Join(was, ", "), strings.Join(want, ", "), err)
}

// Lossy is one setting with which a database may lose confirmed changes.
type Lossy struct {
	Variable string // as the database calls it
	Value    string
	Risk     string // which changes may be lost, and when
	Fix      string // the statement that corrects the setting

	// Serious says that the setting is refused; otherwise it is only worth a
	// warning.
	Serious bool
}

func (l Lossy) String() string {
	return fmt.Sprintf("%s is %s: %s. To correct it: %s", l.Variable, l.Value, l.Risk, l.Fix)
}

// Durability returns the settings with which the database may lose what it
// confirmed; none if it keeps it.
//
// A cluster that replicates a transaction to another member before it confirms
// it (Galera, Group Replication) keeps it when one of them fails. There the
// settings of one server are worth a warning only, while it has two members.
func (db *DB) Durability(ctx context.Context) ([]Lossy, error) {
	return db.dialect.of().Durability(ctx, &db.Session)
}

// AcceptLossy has [DB.Change] work also on a connection without a journal.
func (db *DB) AcceptLossy() { db.lossy.Store(true) }

// journaled returns an error if the connection of a transaction has no journal,
// which each connection of a pool may have otherwise.
func (tx *Tx) journaled(ctx context.Context) error {
	db := tx.db
	if !db.dialect.Words().File || !db.guard || db.lossy.Load() {
		return nil
	}
	found, err := db.dialect.of().Durability(ctx, &tx.Session)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("store: a connection of the pool could lose commits: %s", found[0])
	}
	return err
}
