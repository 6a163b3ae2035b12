package sqldb

import (
	"cmp"
	"context"
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

// UniqueKeys returns the columns of each unique key of a table, those of the primary key first. Of a view, and of a
// table that does not exist, it finds none.
func (s *Session) UniqueKeys(ctx context.Context, table string) (keys [][]string, err error) {
	query := s.db.native(s.Dialect().Words().Unique)
	var rows []struct {
		Name string
		Col  *string // an index of an expression has no column
		I, K int     // the order of SQLite
	}
	err = s.with(ctx, func(on queryer) error { return sqlx.SelectContext(ctx, on, &rows, query, table) })
	if err != nil {
		return nil, s.Fault("look at the keys of "+table, err)
	}
	for i, row := range rows {
		if i == 0 || row.Name != rows[i-1].Name {
			keys = append(keys, nil)
		}
		keys[len(keys)-1] = append(keys[len(keys)-1], *cmp.Or(row.Col, new(string)))
	}
	return keys, nil
}

// IsView reports whether a table is a view. One that does not exist is [ErrNotFound].
func (s *Session) IsView(ctx context.Context, table string) (bool, error) {
	var is string
	err := s.GetAs(ctx, "look at "+table, &is, s.Dialect().Words().TableType, table)
	return strings.Contains(strings.ToLower(is), "view"), err
}
