package transfer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"mergesafe/merge"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// changes is all that a merge does to rows on their way: it gives keys new values, renames,
// and cuts what refers to rows that stay behind.
type changes struct {
	*renamer
	target   string
	severed  []merge.Severed
	rekeying *merge.Rekeying // nil: keys stay
	codecs   cell.Codecs
}

func newChanges(p *Plan, codecs cell.Codecs) *changes {
	return &changes{newRenamer(p), p.Target.Name, p.Severed, p.Rekey, codecs}
}

// of returns what changes the rows of a table of a source; nil if nothing does.
func (c *changes) of(source string, l *layout) changer {
	rename, moves := c.inPlace(source, l), c.moves(source, l)
	if len(moves) == 0 {
		return rename
	}
	var images []change
	return func(row []any) (changed bool, err error) {
		images = images[:0] // of the row as it is: a name is found by its old key
		for i := range moves {
			if images, err = moves[i].images(images, row); err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.table, source, l.keyText(row), l.columns[moves[i].column], err)
			}
		}
		if rename != nil {
			if changed, err = rename(row); err != nil {
				return changed, err
			}
		}
		put(row, images)
		return changed || len(images) > 0, nil
	}
}

// change is a new value for a column of a row.
type change struct {
	column int
	value  any
}

func put(row []any, all []change) {
	for _, c := range all {
		row[c.column] = c.value
	}
}

// move is a column of which values get new ones.
type move struct {
	column int
	cases  []moveCase
}

type moveCase struct {
	space string
	when  *rekey.When
	on    int // the column of the condition
	shift *rekey.Shift
	cells *cell.Row // where its keys are; nil: the value is the whole cell
	at    []int     // the columns of these cells
}

// about reports whether a row is of the case.
func (c *moveCase) about(row []any) bool {
	return c.when == nil || c.on >= 0 && c.when.Holds(printed(row[c.on]))
}

// movesIn reports whether any row of a table gets new values.
func (c *changes) movesIn(l *layout) bool {
	return c.rekeying != nil && slices.ContainsFunc(c.rekeying.Columns, func(m merge.RekeyedColumn) bool { return m.Table == l.table })
}

// moves returns the columns of a table of which values of a source get new ones.
func (c *changes) moves(source string, l *layout) (all []move) {
	if c.rekeying == nil {
		return nil
	}
	for i := range c.rekeying.Columns {
		column := &c.rekeying.Columns[i]
		at := slices.Index(l.columns, column.Column)
		if column.Table != l.table || at < 0 {
			continue
		}
		m := move{column: at}
		for j := range column.Cases {
			of := &column.Cases[j]
			shift, err := c.rekeying.Shift(of, source)
			if err != nil {
				panic(err) // the plan was validated
			}
			on := -1
			if of.When != nil {
				on = slices.Index(l.columns, of.When.Column)
			}
			one := moveCase{space: of.Space, when: of.When, on: on, shift: shift}
			if of.Format != "" {
				if slices.ContainsFunc(column.Cases[:j], func(first merge.RekeyedCase) bool {
					return first.Format == of.Format && first.When.Text() == of.When.Text()
				}) {
					continue // one of several spaces with the same offset
				}
				if one.cells, err = cell.ParseRow(of.Format, column.Column, c.codecs); err != nil {
					panic(err) // the plan was validated, and its codecs are there
				}
				for _, name := range one.cells.Columns() {
					one.at = append(one.at, slices.Index(l.columns, name))
				}
			}
			m.cases = append(m.cases, one)
		}
		if slices.ContainsFunc(m.cases, func(c moveCase) bool { return c.shift.Moves() }) {
			all = append(all, m)
		}
	}
	return all
}

// images appends what becomes of the values of a row; nothing if they stay.
func (m *move) images(all []change, row []any) ([]change, error) {
	for i := range m.cases {
		c := &m.cases[i]
		switch {
		case !c.about(row):
			continue
		case c.cells != nil:
			return m.inCells(all, row, func(c int, n rekey.Integer) (rekey.Integer, error) {
				image, ok := m.cases[c].shift.Image(n)
				if !ok {
					return image, fmt.Errorf("%s and %d is more than any column can hold", n, m.cases[c].shift.By)
				}
				return image, nil
			})
		case row[m.column] == nil:
			return all, nil
		}
		image, err := imageOf(row[m.column], c.shift)
		if image != nil {
			all = append(all, change{m.column, image})
		}
		return all, err
	}
	return all, nil
}

// inCells appends the cells of a row in which keys get new values: by image, which is told
// the case of each.
func (m *move) inCells(all []change, row []any, image func(c int, n rekey.Integer) (rekey.Integer, error)) ([]change, error) {
	var formats []*cell.Row
	var cases []int
	columns := make(map[string]int)
	for i := range m.cases {
		if c := &m.cases[i]; c.cells != nil && c.about(row) {
			formats, cases = append(formats, c.cells), append(cases, i)
			for k, name := range c.cells.Columns() {
				columns[name] = c.at[k]
			}
		}
	}
	changed, err := cell.SpliceAll(formats, func(name string) []byte { return printed(row[columns[name]]) },
		func(i int, k cell.Key) (rekey.Integer, error) { return image(cases[i], k.Value) })
	if err != nil {
		return all, err
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		v, err := written(row[columns[name]], changed[name])
		if err != nil {
			return all, err
		}
		all = append(all, change{columns[name], v})
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
	n, ok := rekey.ParseInteger(b)
	if !ok {
		return nil, fmt.Errorf("%.40q is not an integer, as the column has", b)
	}
	return as(v, n)
}

// imageOf returns what becomes of a value, of the same type; nil if it stays.
func imageOf(v any, shift *rekey.Shift) (any, error) {
	n, ok := asInteger(v)
	if !ok {
		text := printed(v)
		if shift.Stay.Has(text) {
			return nil, nil
		}
		if n, ok = rekey.ParseInteger(text); !ok || !n.Is(text) {
			return nil, fmt.Errorf("%.40q is not a number that can get a new value", text)
		}
	}
	image, ok := shift.Image(n)
	if !ok {
		return nil, fmt.Errorf("%s and %d is more than any column can hold", n, shift.By)
	}
	if image == n {
		return nil, nil
	}
	return as(v, image)
}

// asInteger returns a value that is an integer.
func asInteger(v any) (n rekey.Integer, ok bool) {
	switch v := v.(type) {
	case int64:
		return rekey.Signed(v), true
	case uint64:
		return rekey.Integer{Bits: v}, true
	}
	return n, false
}

// as gives a number the type of another value.
func as(v any, n rekey.Integer) (any, error) {
	switch v.(type) {
	case string:
		return n.String(), nil
	case []byte:
		return []byte(n.String()), nil
	case int64, uint64:
		if n.Negative {
			return int64(n.Bits), nil
		}
		return normal(n.Bits), nil
	default:
		return nil, fmt.Errorf("it is a %T, and only integers and texts get new values", v)
	}
}

// printed is a value as a check sees it; nil for NULL.
func printed(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case uint64:
		return strconv.AppendUint(nil, v, 10)
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64)
	default:
		return fmt.Append(nil, v)
	}
}

// validateRekeying returns an error unless the offsets can be carried out.
func (p *Plan) validateRekeying() error {
	if p.Rekey == nil {
		return nil
	}
	for i := range p.Rekey.Columns {
		c := &p.Rekey.Columns[i]
		for j := range c.Cases {
			if _, err := p.Rekey.Shift(&c.Cases[j], ""); err != nil {
				return fmt.Errorf("transfer: the plan contradicts itself: the values of %s.%s that mean no row: %w", c.Table, c.Column, err)
			}
			if c.Cases[j].Format == "" {
				continue
			}
			if err := validFormat(c.Cases[j].Format, c.Column); err != nil {
				return fmt.Errorf("transfer: the plan contradicts itself: the format of %s.%s: %w", c.Table, c.Column, err)
			}
		}
	}
	for i := range p.Rekey.Spaces {
		if s := &p.Rekey.Spaces[i]; len(s.Sources) != len(p.Sources) || slices.ContainsFunc(s.Sources, func(of merge.SpaceOf) bool {
			return !slices.ContainsFunc(p.Sources, func(w World) bool { return w.Name == of.Source })
		}) {
			return fmt.Errorf("transfer: the plan contradicts itself in the space %q", s.Name)
		}
	}
	return nil
}
