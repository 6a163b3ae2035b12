package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"mergesafe/merge/catalog"
)

// shownLength is how much of a value is shown to people: characters of a text,
// bytes of anything else.
const shownLength = 64

// Count implements [catalog.Source].
func (s *Source) Count(ctx context.Context, tableName string) (n int64, err error) {
	err = s.askOf(ctx, "count", tableName, func(t *table) error {
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.dialect.Quote(t.name)+Where(s.kept(t.name, "")...)).Scan(&n)
	})
	return n, err
}

// Row implements [catalog.Source]. IDs are shown as 20 digits, other bytes as
// 0x and hexadecimal digits. Values longer than 64 characters or bytes are cut
// and end in "…" and their length.
func (s *Source) Row(ctx context.Context, tableName string, columns []string, values [][]byte) (fields []catalog.Field, err error) {
	err = s.askOf(ctx, "row", tableName, func(t *table) error {
		fields, err = s.row(ctx, t, columns, values)
		return err
	})
	return fields, err
}

func (s *Source) row(ctx context.Context, t *table, columns []string, values [][]byte) ([]catalog.Field, error) {
	if len(columns) == 0 || len(columns) != len(values) {
		return nil, fmt.Errorf("%d columns and %d values do not name a row", len(columns), len(values))
	}
	var conditions []string
	var args []any
	for i, name := range columns {
		c := t.byName[name]
		if c == nil {
			return nil, noColumn(t, name)
		}
		if values[i] == nil {
			conditions = append(conditions, "r."+s.dialect.Quote(name)+" IS NULL")
			continue
		}
		condition, matched, err := s.dialect.match(c, values[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", name, err)
		}
		conditions = append(conditions, condition)
		args = append(args, matched...)
	}
	statement := s.rowOf(t, s.dialect.Quote(t.name)) + " WHERE " + strings.Join(conditions, " AND ") + " LIMIT 1"
	fields, err := shownRow(t, s.conn.QueryRowContext(ctx, statement, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return fields, err
}

// rowOf selects the rows of a table as text for people; see shownRow.
func (s *Source) rowOf(t *table, from string) string {
	var selected []string
	for _, c := range t.columns {
		value, length := s.dialect.shown(c)
		selected = append(selected, value, length)
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM " + from + " AS r"
}

// shownRow takes a row of a query that rowOf begins.
func shownRow(t *table, scan func(...any) error) ([]catalog.Field, error) {
	cells := make([]struct {
		value  sql.NullString
		length sql.NullInt64
	}, len(t.columns))
	dest := make([]any, 0, 2*len(cells))
	for i := range cells {
		dest = append(dest, &cells[i].value, &cells[i].length)
	}
	if err := scan(dest...); err != nil {
		return nil, err
	}
	fields := make([]catalog.Field, len(t.columns))
	for i, c := range t.columns {
		fields[i] = catalog.Field{Column: c.Name, Value: cells[i].value.String, Null: !cells[i].value.Valid}
		if cells[i].length.Int64 > shownLength {
			fields[i].Value += fmt.Sprintf("… (%d)", cells[i].length.Int64)
		}
	}
	return fields, nil
}
