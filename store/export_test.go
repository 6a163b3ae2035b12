package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"mergesafe/gameid"
)

// Wrap makes a DB of a pool whose answers the test writes.
func Wrap(pool *sql.DB, d Dialect) *DB { return newDB(pool, pool, d) }

// Meaning is what an error of a driver is translated to.
func Meaning(err error) error { return translate(err) }

// Tables are all tables of the schema.
func Tables() []string { return gameSchema.tables }

// MaxRows is how many rows go into one statement.
const MaxRows = maxRows

// OpenFleetVia is OpenFleet with a switch before its connections.
func OpenFleetVia(dsn string, wrap func(driver.Connector) driver.Connector) (*Fleet, error) {
	dialect, rest, err := splitDSN(dsn)
	if err != nil {
		return nil, err
	}
	var connector driver.Connector
	if dialect == SQLite {
		connector, _, err = openSQLite(rest, false)
	} else {
		connector, err = openMySQL(rest, false)
	}
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(wrap(connector))
	db := newDB(pool, pool, dialect)
	db.name = Redact(dsn)
	f := newFleet(db, dsn)
	db.pool.SetMaxIdleConns(0)
	return f, nil
}

// WrapFleet makes a Fleet of a pool whose answers the test writes.
func WrapFleet(pool *sql.DB, d Dialect) *Fleet {
	f := newFleet(newDB(pool, pool, d), "mysql:mock")
	f.id = "00000000000000000000000000000000"
	return f
}

// DB is the database of a fleet registry.
func (f *Fleet) DB() *DB { return f.db }

// Heartbeat is a heartbeat at once. The member's own must be far away.
func (m *Member) Heartbeat(ctx context.Context) bool { return m.heartbeat(ctx) }

// With puts the database's clock into a query.
func (f *Fleet) With(query string) string { return f.db.with(query) }

// RenewFleet is a heartbeat of a world that has no node: it reports progress
// that never changes.
func RenewFleet(ctx context.Context, f *Fleet, server gameid.ServerID, epoch int64) (bool, error) {
	m := &Member{fleet: f, reserver: &fleetReserver{server: server}, epoch: epoch}
	return m.renew(ctx, 90*time.Second)
}

// Locked tries whether somebody has the lock of an SQLite file.
func (db *DB) Locked() bool { return db.locked() }
