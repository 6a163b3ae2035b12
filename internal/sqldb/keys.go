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

// KeyColumns looks whether a column of a table is unique by itself. If it is
// not, it returns the columns of the primary key and false. Of a view nothing is
// known: that counts as unique. A table that does not exist is [ErrNotFound].
func (s *Session) KeyColumns(ctx context.Context, table, column string) (primary []string, unique bool, err error) {
	words := s.Dialect().Words()
	query := s.Dialect().Native(words.Unique)
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
	err = s.GetAs(ctx, what, &is, words.TableType, table)
	return primary, strings.Contains(strings.ToLower(is), "view"), err
}
