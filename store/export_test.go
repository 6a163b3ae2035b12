package store

import (
	"database/sql"

	"mergesafe/internal/sqldb"
)

// Mock makes a DB of a pool whose answers the test writes.
func Mock(pool *sql.DB, d Dialect) *DB {
	return newDB(sqldb.Wrap(pool, sqldb.Dialect(d)), sqldb.Wrap(pool, sqldb.Dialect(d)))
}

// Trust makes a table one whose keys the database is not asked for.
func (t *Table[K, R]) Trust(db *DB) { db.db.Once(t, func() error { return nil }) }

// MaxRows is how many rows go into one statement.
const MaxRows = maxRows
