package site

import (
	"context"
	"crypto/rand"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer"
)

// Server is the database server of a database: its address. All files of SQLite are on one.
func Server(d transfer.Database) string {
	if s, ok := sqldb.ParseServer(d.DSN); ok {
		return s.Address
	}
	return string(sqldb.SQLite)
}

// Says is what a server says of itself. Two containers may say the same.
func Says(ctx context.Context, d transfer.Database) (says string, err error) {
	db, err := sqldb.Dial(ctx, d.DSN, true)
	if err != nil {
		return "", err
	}
	defer db.Close()
	return says, db.Get(ctx, &says, "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)")
}

// OneServer reports whether two DSNs lead to one server: a lock that a connection has by one is
// seen by the other.
func OneServer(ctx context.Context, a, b transfer.Database) (same bool, err error) {
	first, err := sqldb.Dial(ctx, a.DSN, true)
	if err != nil {
		return false, err
	}
	defer first.Close()
	second, err := sqldb.Dial(ctx, b.DSN, true)
	if err != nil {
		return false, err
	}
	defer second.Close()
	name := "mergesafe " + rand.Text()
	err = first.Snapshot(ctx, func(tx *sqldb.Tx) error { // one connection
		var got int
		if err := tx.Get(ctx, &got, "SELECT GET_LOCK(?, 0)", name); err != nil {
			return err
		}
		err := second.Get(ctx, &same, "SELECT IS_USED_LOCK(?) IS NOT NULL", name)
		if freed := tx.Get(ctx, &got, "SELECT RELEASE_LOCK(?)", name); err == nil {
			err = freed
		}
		return err
	})
	return same, err
}
