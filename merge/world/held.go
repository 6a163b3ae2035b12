package world

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
)

// Held is err, with who may have the lock if a statement on the database waited in vain for one. It is for what no
// [Connection] ran.
func (d Database) Held(ctx context.Context, err error) error {
	return d.held(ctx, err, sqldb.Backend{})
}

// held is Held of a statement on that connection, which is not the one that has the lock.
func (d Database) held(ctx context.Context, err error, waited sqldb.Backend) error {
	if !sqldb.Says(err, sqldb.LockWait) || ctx.Err() != nil {
		return err
	}
	c := &Connection{Database: d, backend: waited}
	if holder := c.holder(ctx); holder != "" {
		return fmt.Errorf("%w: %s", sqldb.Translate(err), holder)
	}
	return err
}
