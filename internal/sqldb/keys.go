package sqldb

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// Once runs f, unless it returned nil for the same key on this DB before.
func (db *DB) Once(key any, f func() error) error {
	if _, done := db.done.Load(key); done {
		return nil
	}
	err := f()
	if err == nil {
		db.done.Store(key, true)
	}
	return err
}

// The unique keys of a table, the primary one first, with their columns. The
// limits are for a pool whose sql_select_limit would hide some.
const (
	mysqlUnique = `
		SELECT index_name AS name, column_name AS col FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0
		ORDER BY CASE index_name WHEN 'PRIMARY' THEN 0 ELSE 1 END, index_name, seq_in_index LIMIT 10000`
	sqliteUnique = `
		SELECT '' AS name, name AS col, 0 AS i, pk AS k FROM pragma_table_info(?1) WHERE pk > 0
		UNION ALL SELECT l.name, COALESCE(c.name, ''), l.seq + 1, c.seqno FROM pragma_index_list(?1) AS l JOIN pragma_index_info(l.name) AS c
		WHERE l."unique" = 1 AND l.partial = 0 AND l.origin <> 'pk'
		ORDER BY i, k`
	mysqlType  = "SELECT table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ? LIMIT 1"
	sqliteType = "SELECT type FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')"
)

// KeyColumns looks whether a column of a table is unique by itself. If it is
// not, it returns the columns of the primary key and false. Of a view nothing is
// known: that counts as unique. A table that does not exist is [ErrNotFound].
func (s *Session) KeyColumns(ctx context.Context, table, column string) (primary []string, unique bool, err error) {
	query, queryType := sqliteUnique, sqliteType
	if s.Dialect() == MySQL {
		query, queryType = mysqlUnique, mysqlType
	}
	what := fmt.Sprintf("look at the keys of %s", table)
	var rows []struct {
		Name string
		Col  *string // an index of an expression has no column
		I, K int     // the order of SQLite
	}
	err = s.with(ctx, func(on queryer) error { return sqlx.SelectContext(ctx, on, &rows, query, table) })
	if err != nil {
		return nil, false, s.Fault(what, err)
	}
	keys := make(map[string][]string)
	for _, row := range rows {
		keys[row.Name] = append(keys[row.Name], *cmp.Or(row.Col, new(string)))
	}
	for _, columns := range keys {
		if len(columns) == 1 && strings.EqualFold(columns[0], column) {
			return nil, true, nil
		}
	}
	if len(rows) > 0 && (rows[0].Name == "" || rows[0].Name == "PRIMARY") {
		primary = keys[rows[0].Name]
	}
	var is string
	err = s.GetAs(ctx, what, &is, queryType, table)
	return primary, strings.Contains(strings.ToLower(is), "view"), err
}
