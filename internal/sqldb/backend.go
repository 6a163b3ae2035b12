package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Backend is the far end of a connection, as its server knows it. The zero
// value is that of a database without a server.
type Backend struct {
	ID int64

	dialect Dialect
	server  string // which one, since another connection may lead to another
}

// BackendOf looks up the server's end of a connection. It does not ask for the list
// of connections: MySQL makes that an error as long as any of them runs a
// statement that contains bytes that are not text.
func (d Dialect) BackendOf(ctx context.Context, conn *sql.Conn) (b Backend, err error) {
	if query := d.Words().Backend; query != "" {
		b.dialect = d
		err = conn.QueryRowContext(ctx, query).Scan(&b.ID, &b.server)
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
