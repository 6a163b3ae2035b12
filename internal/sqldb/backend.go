package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Backend is the far end of a connection, as its server knows it. The zero
// value is that of a database without a server.
type Backend struct {
	ID     int64
	Packet int // how many bytes a statement may have; 0: no bound is known

	dialect Dialect
	server  string // which one, since another connection may lead to another
}

// BackendOf looks up the server's end of a connection. It does not ask for the list
// of connections: MySQL makes that an error as long as any of them runs a
// statement that contains bytes that are not text.
func (d Dialect) BackendOf(ctx context.Context, conn *sql.Conn) (b Backend, err error) {
	if query := d.Words().Backend; query != "" {
		b.dialect = d
		err = conn.QueryRowContext(ctx, query).Scan(&b.ID, &b.server, &b.Packet)
	}
	return b, err
}

// killTimeout bounds Kill: whoever calls it is about to give up anyway.
const killTimeout = 2 * time.Second

// Kill ends what the far end is doing, over another connection of the pool. It
// is for a statement whose context has ended: the driver then closes the
// connection, and a server that sorts or counts does not notice that for hours,
// until it has a row to send. An account may always do it to its own
// connections. If pool leads to another server, nothing is done.
func (b Backend) Kill(pool *sql.DB) error {
	if b.ID == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var server string
	err = conn.QueryRowContext(ctx, b.dialect.Words().Server).Scan(&server)
	if err != nil || server != b.server {
		return err
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf(b.dialect.Words().Kill, b.ID))
	return err
}

// RowLockTimeout is how long RowLock waits for a lock until that counts as held. A server
// tells about waits with a delay of up to 0.1 s.
const RowLockTimeout = 500 * time.Millisecond

// Holder is a connection whose transaction has a lock, or may have it.
type Holder struct {
	ID             int64
	User, Host, DB string
	Doing          string // busy, idle, or what else the server calls it
	Seconds        int64  // for which it does that
}

func (h Holder) String() string {
	if h.User == "" { // a server may know no more, such as MySQL without its performance schema
		return fmt.Sprintf("connection %d", h.ID)
	}
	return fmt.Sprintf("connection %d of %q at %q, database %q, %s for %s", h.ID, h.User, h.Host, h.DB, h.Doing, time.Duration(h.Seconds)*time.Second)
}

// Locks says that the connection has the lock, and by which statement it is ended.
func (h Holder) Locks(end string) string {
	return fmt.Sprintf("locked by the transaction of %s: if its process is frozen or gone, end the transaction on the database server: %s", h, end)
}

// RowLock says who keeps the rows of a query from being changed, and how to end that, as
// the rest of a sentence that begins with the rows; empty if they can be changed. It waits for
// the lock for half a second, and gives it back at once. In SQLite it is a lock on the whole file,
// and only Linux tells who has it.
//
// A lock that a process has taken and does not give back, because it is frozen or gone, ends
// with its connection. A server knows which one that is only while another one waits for
// the lock.
func (db *DB) RowLock(ctx context.Context, query string, args ...any) (string, error) {
	return db.dialect.of().RowLock(ctx, db, query, args...)
}

// ExplainLock adds to the error of a change that did not come to an end who locks its row.
func (db *DB) ExplainLock(ctx context.Context, err error, row, query string, args ...any) error {
	if db.dialect == SQLite || !errors.Is(err, context.DeadlineExceeded) && !Says(err, LockWait) {
		return err // in SQLite, the error says it already
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if by, failed := db.RowLock(ctx, query, args...); failed == nil && by != "" {
		return fmt.Errorf("the row of %s is %s: %w", row, by, err)
	}
	return err
}

// WaitForLock is [DB.RowLock] on a server: it begins a transaction by these statements, on a connection of its own, and
// locks the rows. If it waits, tell says for whom a connection does, by its number.
func (db *DB) WaitForLock(ctx context.Context, begin []string, tell func(waiter int64) string, query string, args ...any) (string, error) {
	const what = "look for a lock"
	conn, err := db.pool.Connx(ctx)
	if err != nil {
		return "", db.Fault(what, err)
	}
	defer conn.Close()
	defer Discard(conn) // ends its transaction, and its settings are not those of others
	waiter, err := db.dialect.BackendOf(ctx, conn.Conn)
	if err == nil {
		err = ExecAll(ctx, conn, begin)
	}
	if err != nil {
		return "", db.Fault(what, err)
	}
	got := make(chan error, 1)
	go func() {
		rows, err := conn.QueryContext(ctx, db.dialect.Native(query+" FOR UPDATE"), args...)
		if err == nil {
			for rows.Next() {
			}
			err = errors.Join(rows.Err(), rows.Close())
		}
		got <- err
	}()
	timer := time.NewTimer(RowLockTimeout)
	defer timer.Stop()
	select {
	case err = <-got:
	case <-timer.C:
		defer func() {
			waiter.Kill(db.pool.DB)
			<-got
		}()
		return tell(waiter.ID), nil
	}
	if Says(err, LockWait) {
		return tell(waiter.ID), nil
	}
	return "", db.Fault(what, err)
}
