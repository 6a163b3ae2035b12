// Package mergetest has databases in memory, for tests of programs that use package
// merge.
package mergetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Row is one row of a table by column: nil (NULL), a [gameid.ID], []byte,
// string or int64. A missing column is NULL.
type Row map[string]any

// Database is a [catalog.Source] in memory. It answers as a database would, and
// holds its user to the contract of Source: it is an error to open two scans
// at once, or to fetch a row while one is open, and a batch is overwritten
// when the next one is asked for.
//
// Fill in the fields before it is used; it is for one goroutine at a time.
type Database struct {
	Label    string // its name
	Schema   catalog.Catalog
	Registry []catalog.Server
	Rows     map[string][]Row // by table, in any order

	// Holds are the conditions that the database can evaluate, by their text, and
	// Values what its columns take, by table and column.
	Holds  map[string]func(Row) bool
	Values map[string][]catalog.Condition

	// OnStamp, if not nil, tells the state of a table that is in no snapshot. The
	// default is that it never changes.
	OnStamp func(table string) string

	// BatchRows is how many rows a batch has; 0 is 3, so that there are many
	// borders between batches.
	BatchRows int

	// Intercept, if not nil, may change what a scan gives, to plant faults.
	Intercept func(catalog.Scan, iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error]

	// OnRow, if not nil, may make Row fail.
	OnRow func() error

	open bool
}

// The collations that a Database knows. Others are a [catalog.UnsupportedError].
const (
	Binary = "BINARY" // byte by byte
	NoCase = "NOCASE" // A to Z are equal to a to z
)

// Name returns the label.
func (d *Database) Name() string { return d.Label }

// Busy reports whether a scan is open.
func (d *Database) Busy() bool { return d.open }

// Catalog returns the schema. It lists the registry if there is one.
func (d *Database) Catalog(context.Context) (*catalog.Catalog, error) {
	c := d.Schema
	c.About = make(map[string]int64)
	for table, rows := range d.Rows {
		c.About[table] = int64(len(rows))
	}
	c.HasRegistry = d.Registry != nil
	return &c, nil
}

// Servers returns the registry.
func (d *Database) Servers(context.Context) ([]catalog.Server, error) { return d.Registry, nil }

// Count counts the rows.
func (d *Database) Count(ctx context.Context, table string) (int64, error) {
	if err := d.idle(ctx); err != nil {
		return 0, err
	}
	if d.table(table) == nil {
		return 0, fmt.Errorf("mergetest: no table %q", table)
	}
	return int64(len(d.Rows[table])), nil
}

// idle returns an error while a scan is open, or if the context has ended.
func (d *Database) idle(ctx context.Context) error {
	if d.open {
		return errors.New("mergetest: a scan is open")
	}
	return ctx.Err()
}

// Ends looks at all rows for the first and the last.
func (d *Database) Ends(ctx context.Context, scan catalog.Scan) (first, last *catalog.Batch, err error) {
	if err := d.idle(ctx); err != nil {
		return nil, nil, err
	}
	rows, err := d.sorted(scan)
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	return batch(scan, rows[:1]), batch(scan, rows[len(rows)-1:]), nil
}

// sortable is a row in sorting form.
type sortable struct {
	order [][]byte
	row   Row
}

// Scan sorts all rows in memory.
func (d *Database) Scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	seq := d.scan(ctx, scan)
	if d.Intercept != nil {
		seq = d.Intercept(scan, seq)
	}
	return seq
}

func (d *Database) scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) {
		if d.open {
			yield(nil, errors.New("mergetest: another scan is open"))
			return
		}
		d.open = true
		defer func() { d.open = false }()
		rows, err := d.sorted(scan)
		if err != nil {
			yield(nil, err)
			return
		}
		if scan.Most > 0 {
			rows = rows[:min(len(rows), scan.Most)]
		}
		size := cmp.Or(d.BatchRows, 3)
		for chunk := range slices.Chunk(rows, size) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			b := batch(scan, chunk)
			if !yield(b, nil) {
				return
			}
			spoil(b)
		}
	}
}

func (d *Database) sorted(scan catalog.Scan) ([]sortable, error) {
	table := d.table(scan.Table)
	if table == nil {
		return nil, fmt.Errorf("mergetest: no table %q", scan.Table)
	}
	dangles := func(Row) bool { return true }
	if scan.Dangling != nil {
		dangles = d.danglers(scan.Dangling)
	}
	rows := make([]sortable, 0, len(d.Rows[scan.Table]))
	for _, row := range d.Rows[scan.Table] {
		s := sortable{row: row, order: make([][]byte, 0, len(scan.Order))}
		null := false
		for _, o := range scan.Order {
			col := table.Column(o.Column)
			if col == nil {
				return nil, fmt.Errorf("mergetest: no column %q", o.Column)
			}
			v, err := sortForm(shifted(row[o.Column], o.Shift), cmp.Or(o.Collation, col.Collation))
			if err != nil {
				return nil, &catalog.UnsupportedError{Table: scan.Table, Column: o.Column, Reason: err.Error()}
			}
			null = null || v == nil
			s.order = append(s.order, v)
		}
		if null && scan.SkipNull || !dangles(row) {
			continue
		}
		rows = append(rows, s)
	}
	if !scan.Unsorted {
		slices.SortStableFunc(rows, func(a, b sortable) int { return slices.CompareFunc(a.order, b.order, nullFirst) })
	}
	return rows, nil
}

func nullFirst(a, b []byte) int {
	switch {
	case a == nil && b != nil:
		return -1
	case b == nil && a != nil:
		return 1
	}
	return bytes.Compare(a, b)
}

// danglers reports of a row whether it refers to no row, as the scan asks.
func (d *Database) danglers(ref *catalog.Reference) func(Row) bool {
	to := d.table(ref.ToTable)
	tuple := func(row Row, columns []string) (all string, whole bool) {
		for i, name := range columns {
			collation := ""
			if c := to.Column(ref.ToColumns[i]); c != nil {
				collation = c.Collation
			}
			value, _ := sortForm(row[name], collation)
			if value == nil {
				return "", false
			}
			all += fmt.Sprintf("%d:%s", len(value), value)
		}
		return all, true
	}
	there := make(map[string]bool)
	for _, row := range d.Rows[ref.ToTable] {
		if t, whole := tuple(row, ref.ToColumns); whole {
			there[t] = true
		}
	}
	return func(row Row) bool {
		t, whole := tuple(row, ref.Columns)
		return whole && !there[t]
	}
}

// Row finds the row with these values.
func (d *Database) Row(ctx context.Context, table string, columns []string, wanted [][]byte) ([]catalog.Field, error) {
	if err := d.idle(ctx); err != nil {
		return nil, err
	}
	if d.OnRow != nil {
		if err := d.OnRow(); err != nil {
			return nil, err
		}
	}
	t := d.table(table)
	for _, row := range d.Rows[table] {
		found := true
		for i, name := range columns {
			found = found && bytes.Equal(raw(row[name]), wanted[i])
			if s, ok := row[name].(string); ok && !found { // under the column's collation, as = does
				have, err := sortForm(s, t.Column(name).Collation)
				want, err2 := sortForm(string(wanted[i]), t.Column(name).Collation)
				found = err == nil && err2 == nil && bytes.Equal(have, want)
			}
		}
		if !found {
			continue
		}
		return fields(t, row), nil
	}
	return nil, nil
}

// Stamp returns what OnStamp says.
func (d *Database) Stamp(ctx context.Context, table string) (string, error) {
	if err := d.idle(ctx); err != nil || d.OnStamp == nil {
		return "", err
	}
	return d.OnStamp(table), nil
}

// Takes returns the Values of "table.column".
func (d *Database) Takes(ctx context.Context, table, column string) ([]catalog.Condition, error) {
	return d.Values[table+"."+column], d.idle(ctx)
}

// TestBeside does nothing: the rows are in memory.
func (d *Database) TestBeside(string, []catalog.Condition) {}

// Failing tries all rows, in the order of the key.
func (d *Database) Failing(ctx context.Context, table string, conditions []catalog.Condition, shifts map[string]*keys.Shift, samples int) ([]catalog.Failing, error) {
	if err := d.idle(ctx); err != nil {
		return nil, err
	}
	t := d.table(table)
	scan := catalog.Scan{Table: table}
	for _, name := range t.Key() {
		scan.Order = append(scan.Order, catalog.Order{Column: name})
	}
	rows, err := d.sorted(scan)
	if err != nil {
		return nil, err
	}
	all := make([]catalog.Failing, len(conditions))
	for i, c := range conditions {
		holds := d.Holds[c.Text]
		if holds == nil {
			all[i].Unclear = "no such function"
			continue
		}
		for _, row := range rows {
			after := maps.Clone(row.row)
			for name, shift := range shifts {
				after[name] = shifted(after[name], shift)
			}
			if holds(after) {
				continue
			}
			if all[i].Rows++; len(all[i].Samples) < samples {
				all[i].Samples = append(all[i].Samples, fields(t, row.row))
			}
		}
	}
	return all, nil
}

func (d *Database) table(name string) *catalog.Table {
	i := slices.IndexFunc(d.Schema.Tables, func(t catalog.Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Schema.Tables[i]
}

// shifted is a value with the key that a shift gives it; nil is none.
func shifted(value any, shift *keys.Shift) any {
	if n, ok := value.(int64); ok && shift != nil {
		image, _ := shift.Image(keys.Signed(n))
		return int64(image.Bits)
	}
	return value
}

func fields(t *catalog.Table, row Row) (all []catalog.Field) {
	for _, c := range t.Columns {
		all = append(all, catalog.Field{Column: c.Name, Value: text(row[c.Name]), Null: row[c.Name] == nil})
	}
	return all
}

// sortForm returns the bytes that sort, nil for NULL.
func sortForm(v any, collation string) ([]byte, error) {
	s, isText := v.(string)
	if n, ok := v.(int64); ok {
		return binary.BigEndian.AppendUint64(nil, uint64(n)^1<<63), nil
	}
	if !isText {
		return raw(v), nil
	}
	switch collation {
	case Binary:
		return []byte(s), nil
	case NoCase:
		fold := []byte(s)
		for i, b := range fold {
			if 'A' <= b && b <= 'Z' {
				fold[i] += 'a' - 'A'
			}
		}
		return fold, nil
	default:
		return nil, fmt.Errorf("no collation %q", collation)
	}
}

func batch(scan catalog.Scan, rows []sortable) *catalog.Batch {
	b := &catalog.Batch{Len: len(rows)}
	for i := range scan.Order {
		b.Order = append(b.Order, packed(len(rows), func(row int) []byte { return rows[row].order[i] }))
	}
	for _, name := range scan.Carry {
		v := packed(len(rows), func(row int) []byte { return raw(rows[row].row[name]) })
		if slices.Contains(scan.Numbers, name) && len(rows)%2 == 0 { // so that both forms come up
			v = numbers(v, len(rows))
		}
		b.Carry = append(b.Carry, v)
	}
	return b
}

var (
	_ catalog.Source = (*Database)(nil)
	_ catalog.Ender  = (*Database)(nil)
	_ catalog.Tester = (*Database)(nil)

	_ catalog.Stamper = (*Database)(nil)
)
