package registry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// ErrNotHeld: the lease of the server is not this node's any more, so the
// transaction must not be committed.
var ErrNotHeld = errors.New("the lease is held by another process")

// GuardTx is a transaction of the game: a *sql.Tx or *sqlx.Tx.
type GuardTx interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Guard makes sure, in a transaction of the game on the database of the registry,
// that the node still has the lease of its server. If it has not, the error is
// [ErrNotHeld], and the transaction must be rolled back. token is the
// Holder.Token of the node's row.
//
// The node learns that another process took over only when it renews its lease.
// Until then a process that was frozen, and thawed, may write rows. Guard closes
// that gap: in MySQL it locks the row for reading until the transaction ends, so
// that nobody takes over meanwhile; in SQLite nobody else writes during a
// transaction that was begun as an immediate one, as package store does. A
// renewal of the node's own lease waits for the transaction too: keep it much
// shorter than gameid.Options.Window.
func (r *Registry) Guard(ctx context.Context, tx GuardTx, server gameid.ServerID, token string) error {
	if token == "" {
		return fmt.Errorf("store: guard of server %s: no token", server)
	}
	query := "SELECT 1 FROM " + Table + " WHERE server_id = ? AND " + sqldb.HeldBy
	if r.Dialect() == MySQL {
		query += " LOCK IN SHARE MODE"
	}
	var one int
	err := tx.QueryRowContext(ctx, query, append([]any{server}, sqldb.HeldByArgs(token)...)...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("store: guard of server %s: %w", server, ErrNotHeld)
	}
	return r.db.Fault(fmt.Sprintf("guard of server %s", server), err)
}
