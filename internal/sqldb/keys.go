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

// UniqueKeys returns the columns of the primary key of a table, which are none if it has no such key, and those of its
// other unique keys. Of a view, and of a table that does not exist, it finds none.
func (s *Session) UniqueKeys(ctx context.Context, table string) (primary []string, others [][]string, err error) {
	query := s.db.native(s.Dialect().Words().Unique)
	var rows []struct {
		Name string
		Col  *string // an index of an expression has no column
		I, K int     // the order of SQLite
	}
	err = s.with(ctx, func(on queryer) error { return sqlx.SelectContext(ctx, on, &rows, query, table) })
	if err != nil {
		return nil, nil, s.Fault("look at the keys of "+table, err)
	}
	for i, row := range rows {
		column := *cmp.Or(row.Col, new(string))
		switch last := len(others) - 1; {
		case row.Name == "" || row.Name == "PRIMARY":
			primary = append(primary, column)
		case i > 0 && rows[i-1].Name == row.Name:
			others[last] = append(others[last], column)
		default:
			others = append(others, []string{column})
		}
	}
	return primary, others, nil
}

// IsView reports whether a table is a view. One that does not exist is [ErrNotFound].
func (s *Session) IsView(ctx context.Context, table string) (bool, error) {
	var is string
	err := s.GetAs(ctx, "look at "+table, &is, s.Dialect().Words().TableType, table)
	return strings.Contains(strings.ToLower(is), "view"), err
}
