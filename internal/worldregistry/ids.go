package worldregistry

import (
	"context"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// ColumnIDs describes the IDs that [Registry.IDs] found in one column.
type ColumnIDs struct {
	Table, Column string
	Largest       gameid.ID // of the server; zero if there is none
	Late          int64     // how many of them are later than the limit
}

// columnsQuery lists the columns that may hold IDs.
func columnsQuery(d sqldb.Dialect) string {
	if d == sqldb.MySQL {
		return `
			SELECT c.table_name AS tab, c.column_name AS col
			FROM information_schema.columns AS c JOIN information_schema.tables AS t
				ON t.table_schema = c.table_schema AND t.table_name = c.table_name
			WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'
				AND c.data_type IN ('binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob') AND c.character_octet_length >= ` + fmt.Sprint(gameid.Size) + `
			ORDER BY c.table_name, c.ordinal_position`
	}
	if d == sqldb.PostgreSQL {
		return `
			SELECT c.relname AS tab, a.attname AS col FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
			WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
				AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0 AND a.atttypid IN (` + postgresBytes + `)
			ORDER BY c.relname, a.attnum`
	}
	return `
		SELECT t.name AS tab, c.name AS col
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND (c.type = '' OR c.type LIKE '%BLOB%' OR c.type LIKE '%BINARY%')
		ORDER BY t.name, c.cid`
}

// IDs looks for the IDs of a server in all columns that may hold IDs (BINARY or BLOB),
// which can take long. Those with a time later than limit, in milliseconds since
// gameid.EpochMillis, are counted.
func (r *Registry) IDs(ctx context.Context, server gameid.ServerID, limit int64) ([]ColumnIDs, error) {
	var columns []struct{ Tab, Col string }
	if err := r.db.Select(ctx, &columns, columnsQuery(r.db.Dialect())); err != nil {
		return nil, err
	}
	blob, d := "", r.db.Dialect()
	if d == sqldb.SQLite {
		blob = "TYPEOF(%[1]s) = 'blob' AND "
	}
	var found []ColumnIDs
	for _, c := range columns {
		col := d.Quote(c.Col)
		query := fmt.Sprintf("SELECT "+fmt.Sprintf(d.Words().Largest, col)+" AS largest, COALESCE(SUM(CASE WHEN %[1]s > ? THEN 1 ELSE 0 END), 0) AS late FROM %[2]s WHERE "+
			blob+"LENGTH(%[1]s) = ? AND SUBSTR("+d.Hex(col)+", 12, 5) = ?", col, d.Quote(c.Tab))
		var row struct {
			Largest []byte
			Late    int64
		}
		if err := r.db.Get(ctx, &row, query, lastOf(limit), gameid.Size, fmt.Sprintf("%05X", uint32(server))); err != nil {
			return nil, fmt.Errorf("column %q of table %q: %w", c.Col, c.Tab, err)
		}
		column := ColumnIDs{Table: c.Tab, Column: c.Col, Late: row.Late}
		if row.Largest != nil {
			var err error
			if column.Largest, err = gameid.FromBytes(row.Largest); err != nil {
				return nil, fmt.Errorf("column %q of table %q: %w", c.Col, c.Tab, err)
			}
		}
		found = append(found, column)
	}
	return found, nil
}
