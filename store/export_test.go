package store

import (
	"database/sql"

	"mergesafe/internal/sqldb"
)

// Mock makes a DB of a pool whose answers the test writes.
func Mock(pool *sql.DB, d Dialect) *DB {
	db := sqldb.Wrap(pool, sqldb.Dialect(d))
	for _, known := range []tableKey{{"players", "id"}, {"items", "id"}, {"guilds", "id"}, {"guild_members", "player_id"}} {
		db.Once(known, func() error { return nil }) // is not asked for its keys
	}
	return newDB(db, sqldb.Wrap(pool, sqldb.Dialect(d)))
}

// MaxRows is how many rows go into one statement.
const MaxRows = maxRows
