package world

import (
	"context"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql"
)

// Held is err, with who may have the lock if a statement on the database waited in vain for one. It is for what no
// [Connection] ran.
func (d Database) Held(ctx context.Context, err error) error {
	if !sqldb.Says(err, sqldb.LockWait) || ctx.Err() != nil {
		return err
	}
	db, unread := sqldb.Dial(ctx, d.DSN, sqldb.ReadOnly)
	if unread != nil {
		return err
	}
	defer db.Close()
	if db.Dialect() != sqldb.MySQL {
		return err
	}
	return fmt.Errorf("%w: %s", sqldb.Translate(err), mysql.Holders(ctx, db))
}
