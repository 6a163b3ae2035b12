package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Backend is the far end of a connection, as the server lists it. The zero
// value is that of a database without a server.
type Backend struct {
	id     int64
	client string // the address of our end, as the server sees it
}

// BackendOf looks up the far end of a connection.
func (d Dialect) BackendOf(ctx context.Context, conn *sql.Conn) (b Backend, err error) {
	if d == MySQL {
		err = conn.QueryRowContext(ctx, "SELECT ID, HOST FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()").Scan(&b.id, &b.client)
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
	if b.id == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	var there int
	err := pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ? AND HOST = ?", b.id, b.client).Scan(&there)
	if err != nil || there == 0 {
		return err
	}
	_, err = pool.ExecContext(ctx, fmt.Sprintf("KILL %d", b.id))
	return err
}
