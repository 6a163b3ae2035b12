package store

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// ErrNotHeld: another process has the lease of the server, so the
// transaction must not be committed. [Tx.Guard] returns it.
var ErrNotHeld = errors.New("the lease is held by another process")

// Guard makes sure, in a transaction on the database of the registry, that the node
// still has the lease of its server. Otherwise the error is [ErrNotHeld], and the
// transaction must be rolled back.
//
// A node learns that another process took over only when it renews its lease.
// Until then a process that was frozen, and thawed, may write rows. Guard closes
// that gap. In MySQL it locks the node's row for reading until the transaction ends, so
// that no process takes over meanwhile. In SQLite a transaction that has written keeps
// all others from writing, and a transaction that has only read can no longer write after
// another process took over. A renewal of the node's own lease waits for the
// transaction too: keep it much shorter than gameid.Options.Window. If a process is frozen
// within the transaction, its successor cannot start: the successor's error names the
// connection to end.
func (tx *Tx) Guard(ctx context.Context, node *gameid.Node) error {
	query := "SELECT 1 FROM " + sqldb.RegistryTable + " WHERE server_id = ? AND " + sqldb.HeldBy + " LIMIT 1" // in a session with sql_select_limit = 0, too
	query += sqldb.Dialect(tx.Dialect()).Words().Share
	var one int
	err := tx.Get(ctx, &one, query, append([]any{node.Server()}, sqldb.HeldByArgs(node.Holder().Token)...)...)
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("store: guard of server %s: %w", node.Server(), ErrNotHeld)
	}
	return err
}
