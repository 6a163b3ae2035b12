package world

import (
	"context"
	"database/sql"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// Size is how large a database is, as far as it tells without reading its rows.
type Size struct {
	Bytes int64 // of tables and indexes; of SQLite the pages of the file

	// Rows is an estimate of how many rows the tables of the catalogue have together; -1 if
	// the database makes none.
	Rows int64
}

const (
	sqliteBytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"

	mysqlSizes = `SELECT TABLE_NAME, COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0), COALESCE(TABLE_ROWS, 0)
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'`

	// MySQL, not MariaDB, otherwise tells what it told within the last day.
	mysqlSizesNow = "SET SESSION information_schema_stats_expiry = 0"
)

// Size asks the database how large it is.
func (s *Source) Size(ctx context.Context) (size Size, err error) {
	err = s.ask(ctx, "size", func(schema *schema) error {
		size, err = s.dialect.size(ctx, s.conn, schema)
		return err
	})
	return size, err
}

func (d sqliteDialect) size(ctx context.Context, conn *sql.Conn, _ *schema) (Size, error) {
	size := Size{Rows: -1}
	return size, conn.QueryRowContext(ctx, sqliteBytes).Scan(&size.Bytes)
}

func (d *mysqlDialect) size(ctx context.Context, conn *sql.Conn, schema *schema) (size Size, err error) {
	if schema.Engine == "mysql" {
		if _, err := conn.ExecContext(ctx, mysqlSizesNow); err != nil {
			return Size{}, err
		}
	}
	var name string
	var bytes, rows int64
	err = each(ctx, conn, mysqlSizes, func() {
		size.Bytes += bytes
		if schema.tables[name] != nil {
			size.Rows += rows
		}
	}, &name, &bytes, &rows)
	return size, err
}

// Registry is the registry of the database as it is now, not in the snapshot: leases end by
// themselves. The catalogue says whether there is one.
func (s *Source) Registry() *worldregistry.Registry {
	dialect := sqldb.SQLite
	if _, is := s.dialect.(*mysqlDialect); is {
		dialect = sqldb.MySQL
	}
	return worldregistry.New(sqldb.Wrap(s.pool, dialect))
}
