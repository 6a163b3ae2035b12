package mapping

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/merge/keys"

	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Value is a new value for a column of a row.
type Value struct {
	Column int
	Value  any
}

// put gives a row new values.
func put(row []any, all []Value) {
	for _, v := range all {
		row[v.Column] = v.Value
	}
}

// Moves returns the columns of a table of which values of a world get new ones.
func (c *Mapping) Moves(of string, l *world.Layout) (all []world.Move) {
	if c.Rekeying == nil {
		return nil
	}
	for i := range c.Rekeying.Columns {
		column := &c.Rekeying.Columns[i]
		at := slices.Index(l.Columns, column.Column)
		if column.Table != l.Table || at < 0 {
			continue
		}
		m := world.Move{Column: at}
		for j := range column.Cases {
			rekeyed := &column.Cases[j]
			shift, err := c.Rekeying.Shift(rekeyed, of)
			if err != nil {
				panic(err) // the plan was validated
			}
			on := -1
			if rekeyed.When != nil {
				on = slices.Index(l.Columns, rekeyed.When.Column)
			}
			one := world.MoveCase{Space: rekeyed.Space, When: rekeyed.When, On: on, Shift: shift}
			if rekeyed.Format != "" {
				if slices.ContainsFunc(column.Cases[:j], func(first verdict.RekeyedCase) bool {
					return first.Format == rekeyed.Format && first.When.Text() == rekeyed.When.Text()
				}) {
					continue // one of several spaces with the same offset
				}
				if one.Cells, err = keys.ParseRow(rekeyed.Format, column.Column, c.codecs); err != nil {
					panic(err) // the plan was validated, and its codecs are there
				}
				for _, name := range one.Cells.Columns() {
					one.At = append(one.At, slices.Index(l.Columns, name))
				}
			}
			m.Cases = append(m.Cases, one)
		}
		if slices.ContainsFunc(m.Cases, func(c world.MoveCase) bool { return c.Shift.Moves() }) {
			all = append(all, m)
		}
	}
	return all
}

// imagesOf appends what becomes of the values of a row; nothing if they stay.
func imagesOf(m *world.Move, all []Value, row []any) ([]Value, error) {
	for i := range m.Cases {
		c := &m.Cases[i]
		switch {
		case !c.About(row):
			continue
		case c.Cells != nil:
			return inCells(m, all, row, func(c int, n keys.Integer) (keys.Integer, error) {
				image, ok := m.Cases[c].Shift.Image(n)
				if !ok {
					return image, fmt.Errorf("%s plus %d is larger than any column can hold", n, m.Cases[c].Shift.By)
				}
				return image, nil
			})
		case row[m.Column] == nil:
			return all, nil
		}
		image, err := imageOf(row[m.Column], c.Shift)
		if image != nil {
			all = append(all, Value{m.Column, image})
		}
		return all, err
	}
	return all, nil
}

// inCells appends the cells of a row in which keys get new values: by image, which is told
// the case of each.
func inCells(m *world.Move, all []Value, row []any, image func(c int, n keys.Integer) (keys.Integer, error)) ([]Value, error) {
	var formats []*keys.Row
	var cases []int
	for i := range m.Cases {
		if c := &m.Cases[i]; c.Cells != nil && c.About(row) {
			formats, cases = append(formats, c.Cells), append(cases, i)
		}
	}
	column := func(name string) (at int) {
		for _, i := range cases {
			if k := slices.Index(m.Cases[i].Cells.Columns(), name); k >= 0 {
				at = m.Cases[i].At[k]
			}
		}
		return at
	}
	changed, err := keys.SpliceAll(formats, func(name string) []byte { return world.Printed(row[column(name)]) },
		func(i int, k keys.CellKey) (keys.Integer, error) { return image(cases[i], k.Value) })
	if err != nil {
		return all, err
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		at := column(name)
		v, err := written(row[at], changed[name])
		if err != nil {
			return all, err
		}
		all = append(all, Value{at, v})
	}
	return all, nil
}

// written gives a cell the type of another value.
func written(v any, b []byte) (any, error) {
	switch v.(type) {
	case string:
		return string(b), nil
	case []byte:
		return b, nil
	}
	n, ok := keys.ParseInteger(b)
	if !ok {
		return nil, fmt.Errorf("%.40q is not an integer, as the column has", b)
	}
	return world.As(v, n)
}

// imageOf returns what becomes of a value, of the same type; nil if it stays.
func imageOf(v any, shift *keys.Shift) (any, error) {
	n, ok := world.AsInteger(v)
	if !ok {
		text := world.Printed(v)
		if shift.Stay.Has(text) {
			return nil, nil
		}
		if n, ok = keys.ParseInteger(text); !ok || !n.Is(text) {
			return nil, fmt.Errorf("%.40q is not a number that can get a new value", text)
		}
	}
	image, ok := shift.Image(n)
	if !ok {
		return nil, fmt.Errorf("%s plus %d is larger than any column can hold", n, shift.By)
	}
	if image == n {
		return nil, nil
	}
	return world.As(v, image)
}
