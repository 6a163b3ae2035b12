package world

import (
	"context"
	"database/sql"
	"fmt"

	"mergesafe/merge/catalog"
)

// mysqlOutside are the engines without transactions of which tables are read. A
// statement locks such a table, so each reads one state of it; a stamp before the
// first and after the last one tells whether all of them read the same.
var mysqlOutside = []string{"MyISAM", "Aria", "MEMORY"}

// mysqlWritten is when a table was written last. Of MyISAM it is the time of the
// file that holds the rows; Aria writes its file later, MEMORY has none.
const mysqlWritten = `SELECT COALESCE(MAX(UPDATE_TIME), '') FROM information_schema.TABLES
	WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND ENGINE = 'MyISAM'`

// stamp is a sum over all rows, by the server, and when they were written. The sum
// alone would not show that a row came and went.
func (d *mysqlDialect) stamp(ctx context.Context, conn *sql.Conn, table string) (string, error) {
	var name, written string
	var sum sql.NullInt64
	var rows int64
	if err := conn.QueryRowContext(ctx, "CHECKSUM TABLE "+d.Quote(table)+" EXTENDED").Scan(&name, &sum); err != nil {
		return "", err
	}
	if !sum.Valid {
		return "", fmt.Errorf("the database server gives no checksum of table %q: is it damaged?", table)
	}
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+d.Quote(table)).Scan(&rows); err != nil {
		return "", err
	}
	if err := conn.QueryRowContext(ctx, mysqlWritten, table).Scan(&written); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d rows, sum %d, written %s", rows, sum.Int64, written), nil
}

func (d sqliteDialect) stamp(_ context.Context, _ *sql.Conn, table string) (string, error) {
	return "", fmt.Errorf("table %q is in the snapshot", table)
}

var _ catalog.Stamper = (*Source)(nil)

// Stamp implements [catalog.Stamper].
func (s *Source) Stamp(ctx context.Context, name string) (stamp string, err error) {
	err = s.askOf(ctx, "stamp", name, func(*table) error {
		stamp, err = s.dialect.stamp(ctx, s.conn, name)
		return err
	})
	return stamp, err
}
