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
)

// Insert adds rows: all of them, or none if it returns an error. If a trigger
// leaves out a row, that is an error. The rows may be in any order; they are written
// in the order of their keys. If Insert returns an error within a transaction, some rows may have been
// added in it, so let the transaction roll back.
func (t *Table[K, R]) Insert(ctx context.Context, s Session, rows ...R) error {
	return t.write(ctx, s, batch[K, R]{table: t, what: "insert into " + t.name, exact: true}, rows)
}

// Upsert adds rows as [Table.Insert] does, and overwrites rows whose key exists. If two
// of rows have the same key, it returns [ErrInvalid]. Keys that are texts are compared as Go compares them: if two are
// equal only by the collation of the column, such as "aria" and "ARIA", the last one stays.
//
// A table that has another unique key is refused: MySQL would overwrite the row that has
// the same value there, whatever its key is.
func (t *Table[K, R]) Upsert(ctx context.Context, s Session, rows ...R) error {
	err := s.of().DB().Once(upsert{t}, func() error {
		keys, err := s.of().UniqueKeys(ctx, t.name)
		for _, key := range keys {
			if !t.isKey(key) {
				return fmt.Errorf("store: upsert into %s: the table has another unique key, %v, so a row with a different key could be overwritten; "+
					"use Insert and Update", t.name, key)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	var set []string
	b := batch[K, R]{table: t, what: "upsert into " + t.name, exact: s.Dialect() != MySQL} // which counts a changed row as two
	for _, c := range t.columns {
		if s.Dialect() == MySQL {
			set = append(set, c.name+"=VALUES("+c.name+")")
		} else {
			set = append(set, c.name+"=excluded."+c.name)
		}
	}
	b.tail = " ON CONFLICT (" + t.order + ") DO UPDATE SET " + strings.Join(set, ",")
	if s.Dialect() == MySQL {
		b.tail = " ON DUPLICATE KEY UPDATE " + strings.Join(set, ",")
	}
	return t.write(ctx, s, b, rows)
}

// upsert stands for the table in [sqldb.DB.Once].
type upsert struct{ table any }

// write validates rows and sends them, by as many statements as they take.
func (t *Table[K, R]) write(ctx context.Context, s Session, b batch[K, R], rows []R) error {
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
	b.rest = t.sorted(rows)
	for i := 1; i < len(rows) && b.tail != ""; i++ {
		if t.compare(&b.rest[i-1], &b.rest[i]) == 0 {
			return fmt.Errorf("store: %s: %w: two rows have one key: %+v and %+v", b.what, ErrInvalid, b.rest[i-1], b.rest[i])
		}
	}
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
	// Prepared in the pool it outlasts the transaction, and serves the next. If that fails, the transaction
	// prepares it, or does without.
	if kind, query := b.statement(); kind == sqldb.Long {
		s.of().Statement(ctx, kind, query)
	}
	return s.of().DB().InTx(ctx, func(tx *sqldb.Tx) error { return all(&tx.Session) })
}

// batch is one INSERT statement, and the rows that come after it.
type batch[K comparable, R any] struct {
	table *Table[K, R]
	what  string
	tail  string // of the statement
	exact bool   // the database counts each row once
	rows  int
	args  []any
	rest  []R
}

// next takes from the rest as many rows as fit into one statement.
func (b *batch[K, R]) next() error {
	b.rows, b.args = 0, b.args[:0]
	for bytes := 0; b.rows < min(len(b.rest), b.table.most); b.rows++ {
		args, size, err := b.table.values(b.args, reflect.ValueOf(&b.rest[b.rows]).Elem(), b.table.columns)
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

// statement returns the statement. Those of one row, and of as many as possible, come often.
func (b *batch[K, R]) statement() (sqldb.Kind, string) {
	kind := sqldb.Seldom
	switch b.rows {
	case b.table.most:
		kind = sqldb.Long
	case 1:
		kind = sqldb.Short
	}
	return kind, b.table.insert + strings.Repeat(b.table.marks+",", b.rows-1) + b.table.marks + b.tail
}

// send runs the statement.
func (b *batch[K, R]) send(ctx context.Context, s *sqldb.Session) error {
	kind, query := b.statement()
	result, err := s.ExecKind(ctx, kind, b.what, query, b.args...)
	if err != nil {
		if d, ok := errors.AsType[*DuplicateError](err); ok && d.Table == "" {
			d.Table = b.table.name // MariaDB does not tell
		}
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return s.Fault(b.what, err)
	case b.exact && n != int64(b.rows):
		return fmt.Errorf("store: %s: the database reports %d added rows, want %d", b.what, n, b.rows)
	}
	return nil
}

// sorted returns rows in the order of their keys: they fill the pages of a
// table better so, and two transactions lock them in the same order.
func (t *Table[K, R]) sorted(rows []R) []R {
	for i := 1; i < len(rows); i++ {
		if t.compare(&rows[i-1], &rows[i]) > 0 {
			rows = slices.Clone(rows)
			sort.Slice(rows, func(i, j int) bool { return t.compare(&rows[i], &rows[j]) < 0 })
			break
		}
	}
	return rows
}

// compare orders two rows by their keys.
func (t *Table[K, R]) compare(a, b *R) int {
	v, w := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for _, c := range t.columns[:len(t.key)] {
		if n := compare(c.of(v), c.of(w)); n != 0 {
			return n
		}
	}
	return 0
}

func (t *Table[K, R]) validateRow(row *R) error {
	if !t.validate {
		return nil
	}
	return any(row).(validator).Validate()
}

// values appends to args what the driver takes for columns of a struct, and tells
// how many bytes that is, about.
func (t *Table[K, R]) values(args []any, of reflect.Value, columns []column) (_ []any, size int, err error) {
	for _, c := range columns {
		arg, n, err := value(c.of(of).Addr().Interface())
		if err != nil {
			return nil, 0, fmt.Errorf("store: %s.%s of %s: %w", t.name, strings.Trim(c.name, "`"), of.Type(), err)
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

// whole drops what is finer than a millisecond: one kind of database would round it up, another down, and SQLite keep it.
func whole(t time.Time) time.Time { return t.Truncate(time.Millisecond) }

// storable returns an error for a time that drivers, which count microseconds, would store as another one.
func storable(t time.Time) error {
	if year := t.Year(); max(year, -year) > 290_000 {
		return fmt.Errorf("%w: the year %d", ErrInvalid, year)
	}
	return nil
}
