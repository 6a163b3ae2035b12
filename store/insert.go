package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// What goes into one statement.
const (
	maxRows         = 1000      // with 250 a row takes SQLite 1.15 times as long; MariaDB does not mind
	maxBytes        = 512 << 10 // half of the smallest max_allowed_packet in use
	maxPlaceholders = 32766     // SQLite; MySQL has 65535
	maxKeys         = 500       // in one IN (...)
)

// Insert adds rows: all of them, or none if it returns an error. If a trigger
// leaves out a row, that is an error. The rows may be in any order, and are written
// in that of their keys. Within a transaction an error may leave some of them in it,
// so let it roll back.
func (t *Table[K, R]) Insert(ctx context.Context, s Session, rows ...R) error {
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		if err := t.validateRow(&rows[i]); err != nil {
			return err
		}
	}
	if err := t.ready(ctx, s.of()); err != nil {
		return err
	}
	b := batch[K, R]{table: t, rest: t.sorted(rows)}
	if err := b.next(); err != nil {
		return err
	}
	if len(b.rest) == 0 && len(rows) <= sqldb.Dialect(s.Dialect()).Words().Atomic {
		return b.send(ctx, s.of())
	}
	all := func(s *sqldb.Session) error {
		for {
			if err := b.send(ctx, s); err != nil || len(b.rest) == 0 {
				return err
			}
			if err := b.next(); err != nil {
				return err
			}
		}
	}
	if s.of().IsTx() {
		return all(s.of())
	}
	// Prepared in the pool it outlasts the transaction, and serves the next.
	if b.rows == t.most {
		if _, err := s.of().Statement(ctx, sqldb.Long, t.full); err != nil {
			return s.of().Fault("insert into "+t.name, err)
		}
	}
	return s.of().DB().InTx(ctx, func(tx *sqldb.Tx) error { return all(&tx.Session) })
}

// batch is one INSERT statement, and the rows that come after it.
type batch[K, R any] struct {
	table *Table[K, R]
	rows  int
	args  []any
	rest  []R
}

// next takes from the rest as many rows as fit into one statement.
func (b *batch[K, R]) next() error {
	b.rows, b.args = 0, b.args[:0]
	for bytes := 0; b.rows < min(len(b.rest), b.table.most); b.rows++ {
		args, size, err := b.table.appendValues(b.args, &b.rest[b.rows])
		if err != nil {
			return err
		}
		if bytes += size; bytes > maxBytes && b.rows > 0 {
			break
		}
		b.args = args
	}
	b.rest = b.rest[b.rows:]
	return nil
}

// send runs the statement.
func (b *batch[K, R]) send(ctx context.Context, s *sqldb.Session) error {
	kind, query := sqldb.Seldom, ""
	switch b.rows {
	case b.table.most:
		kind, query = sqldb.Long, b.table.full
	case 1:
		kind, query = sqldb.Short, b.table.insert+b.table.marks
	default:
		query = b.table.insertRows(b.rows)
	}
	what := "insert into " + b.table.name
	result, err := s.ExecKind(ctx, kind, what, query, b.args...)
	if err != nil {
		if d, ok := errors.AsType[*DuplicateError](err); ok && d.Table == "" {
			d.Table = b.table.name // MariaDB does not tell
		}
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return s.Fault(what, err)
	case n != int64(b.rows):
		return fmt.Errorf("store: %s: the database says that it added %d rows, want %d", what, n, b.rows)
	}
	return nil
}

// insertRows is the statement that adds n rows.
func (t *Table[K, R]) insertRows(n int) string {
	return t.insert + strings.Repeat(t.marks+",", n-1) + t.marks
}

// sorted returns rows in the order of their keys: they fill the pages of a
// table better so.
func (t *Table[K, R]) sorted(rows []R) []R {
	for i := 1; i < len(rows); i++ {
		if t.key(&rows[i]).Compare(t.key(&rows[i-1])) < 0 {
			rows = slices.Clone(rows)
			sort.Slice(rows, func(i, j int) bool { return t.key(&rows[i]).Compare(t.key(&rows[j])) < 0 })
			break
		}
	}
	return rows
}

func (t *Table[K, R]) validateRow(row *R) error {
	if !t.validate {
		return nil
	}
	return any(row).(validator).Validate()
}

// appendValues appends to args what the driver takes for each column of row,
// and tells how many bytes that is, about.
func (t *Table[K, R]) appendValues(args []any, row *R) (_ []any, size int, err error) {
	v := reflect.ValueOf(row).Elem()
	for _, c := range t.columns {
		arg, n, err := value(v.FieldByIndex(c.index).Addr().Interface())
		if err != nil {
			return nil, 0, fmt.Errorf("store: %s.%s, the field %s of %s: %w", t.name, strings.Trim(c.name, "`"), c.field, v.Type(), err)
		}
		args = append(args, arg)
		size += n
	}
	return args, size, nil
}

// value returns what the driver takes for the field that p points to. The
// switch saves time on the types that occur most.
func value(p any) (arg driver.Value, size int, err error) {
	switch p := p.(type) {
	case *string:
		return *p, len(*p), nil
	case *int64:
		return *p, 8, nil
	case *time.Time:
		return whole(*p), 8, storable(*p)
	case driver.Valuer:
		arg, err = p.Value()
	default:
		if v := reflect.Indirect(reflect.ValueOf(p)); v.CanUint() && v.Uint() > math.MaxInt64 {
			return v.Uint(), 8, nil // MySQL takes it, and package database/sql refuses it for SQLite
		}
		arg, err = driver.DefaultParameterConverter.ConvertValue(p)
	}
	switch v := arg.(type) {
	case time.Time:
		return whole(v), 8, cmp.Or(err, storable(v))
	case []byte:
		size = len(v)
	case string:
		size = len(v)
	default:
		size = 8
	}
	return arg, size, err
}

// whole drops what is finer than a millisecond. Of the servers one would round it up and another down, and SQLite keep it.
func whole(t time.Time) time.Time { return t.Truncate(time.Millisecond) }

// storable returns an error for a time that drivers, which count microseconds, would store as another one.
func storable(t time.Time) error {
	if year := t.Year(); max(year, -year) > 290_000 {
		return fmt.Errorf("%w: the year %d", ErrInvalid, year)
	}
	return nil
}
