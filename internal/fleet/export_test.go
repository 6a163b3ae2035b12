package fleet

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"mergesafe/internal/sqldb"
)

// OpenVia is Open with a switch before its connections.
func OpenVia(dsn string, wrap func(driver.Connector) driver.Connector) (*Fleet, error) {
	f, err := Open(dsn)
	if err != nil {
		return nil, err
	}
	connector, err := sqldb.NewConnector(dsn, sqldb.ReadWrite)
	if err != nil {
		return nil, err
	}
	dialect := f.db.Dialect()
	f.Close()
	f.db = sqldb.Wrap(sql.OpenDB(wrap(connector)), dialect)
	f.db.Pool().SetMaxIdleConns(0)
	return f, nil
}

// DB is the database of a fleet registry.
func (f *Fleet) DB() *sqldb.DB { return f.db }

// Heartbeat is a heartbeat at once. The member's own must be far away.
func (m *Member) Heartbeat(ctx context.Context) bool { return m.heartbeat(ctx) }
