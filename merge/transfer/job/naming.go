package job

import (
	"errors"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// Naming is how rows are read to be named: by their primary key, or by some other
// columns if the table has none.
func (r *Run) Naming(table string, otherwise []string) *rowio.Layout {
	l := &rowio.Layout{Dialect: r.Target.Dialect(), Table: table, Columns: otherwise}
	if keyed := r.Keys[table]; keyed != nil && !keyed.Multiset() {
		l.Columns = keyed.KeyColumns()
	}
	for i, name := range l.Columns {
		l.Reads, l.Key, l.Text = append(l.Reads, l.Dialect.Quote(name)), append(l.Key, i), append(l.Text, false)
	}
	return l
}

// naming tells of a row whether it has a key that came.
type naming struct {
	Columns []string // whose values it wants of a row, the first of all
	cases   []namingCase
	keys    []ledger.KeySet

	Broken *cell.CodecError // nothing is known of this row, and of further ones
	At     string
}

type namingCase struct {
	*verdict.RekeyedCase
	none  rekey.Values
	when  int       // the place of the column of its condition
	cells *cell.Row // nil: the value is the whole cell
	at    []int     // the places of its cells
}

func NewNaming(c *verdict.RekeyedColumn, keys []ledger.KeySet, codecs cell.Codecs) (*naming, error) {
	n := &naming{keys: keys}
	place := func(column string) int {
		i := slices.Index(n.Columns, column)
		if i < 0 {
			i, n.Columns = len(n.Columns), append(n.Columns, column)
		}
		return i
	}
	place(c.Column)
	for i := range c.Cases {
		of := namingCase{RekeyedCase: &c.Cases[i]}
		var err error
		if of.none, err = rekey.ParseValues(of.None); err != nil {
			return nil, err
		}
		if of.When != nil {
			of.when = place(of.When.Column)
		}
		if of.Format != "" {
			if of.cells, err = cell.ParseRow(of.Format, c.Column, codecs); err != nil {
				return nil, err
			}
			for _, column := range of.cells.Columns() {
				of.at = append(of.at, place(column))
			}
		}
		n.cases = append(n.cases, of)
	}
	return n, nil
}

func (n *naming) Names(row []any) bool {
	if n.Broken != nil {
		return false
	}
	for i := range n.cases {
		of := &n.cases[i]
		if of.When != nil && !of.When.Holds(rowio.Printed(row[of.when])) {
			continue
		}
		numbers, err := of.numbers(row)
		if failed, is := errors.AsType[*cell.CodecError](err); is {
			n.Broken = failed
			for _, v := range row[len(n.Columns):] {
				n.At = strings.TrimPrefix(n.At+", "+printable.Text(string(rowio.Printed(v))), ", ")
			}
			return false
		}
		if slices.ContainsFunc(numbers, func(v rekey.Integer) bool { return n.came(of, v) }) {
			return true
		}
	}
	return false
}

// numbers are those by which a row refers to something. A cell that does not have its format
// is in no row that a merge left alone: it refers to nothing.
func (of *namingCase) numbers(row []any) (all []rekey.Integer, err error) {
	if of.cells == nil {
		if v, ok := rekey.ParseInteger(rowio.Printed(row[0])); ok {
			all = append(all, v)
		}
		return all, nil
	}
	cells := make([][]byte, len(of.at))
	for i, at := range of.at {
		cells[i] = rowio.Printed(row[at])
	}
	keys, err := of.cells.Keys(cells)
	for _, k := range keys {
		all = append(all, k.Value)
	}
	return all, err
}

// came reports whether a number is a key that came.
func (n *naming) came(of *namingCase, v rekey.Integer) bool {
	return !of.none.HasInteger(v) && slices.ContainsFunc(n.keys, func(k ledger.KeySet) bool {
		old, ok := v.Sub(k.Offset)
		return ok && k.Space == of.Space && k.Keys.Has(old)
	})
}
