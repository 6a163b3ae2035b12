package store

import "database/sql"

// Wrap makes a DB of a pool whose answers the test writes.
func Wrap(pool *sql.DB, d Dialect) *DB { return newDB(pool, pool, d) }

// Meaning is what an error of a driver is translated to.
func Meaning(err error) error { return translate(err) }

// Tables are all tables of the schema.
func Tables() []string { return gameSchema.tables }

// MaxRows is how many rows go into one statement.
const MaxRows = maxRows
