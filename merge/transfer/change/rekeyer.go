package change

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/merge/cell"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// Changes is all that a merge does to rows on their way: it gives keys new values, renames,
// and cuts what refers to rows that stay behind.
type Changes struct {
	*Renamer
	target   string
	severed  []declare.Severed
	Rekeying *verdict.Rekeying // nil: keys stay
	codecs   cell.Codecs
	stay     func(world, table string) *rekey.Set // the keys of rows that stay behind
}

func NewChanges(p *plan.Plan, codecs cell.Codecs) *Changes {
	return &Changes{NewRenamer(p), p.Target.Name, p.Severed, p.Rekey, codecs, p.KeysThatStay}
}

// Of returns what changes the rows of a table of a source; nil if nothing does.
func (c *Changes) Of(source string, l *rowio.Layout) rowio.Changer {
	rename, moves := c.inPlace(source, l), c.Moves(source, l)
	if len(moves) == 0 {
		return rename
	}
	var images []change
	cuts := c.cuts(source, l)
	return func(row []any) (changed bool, err error) {
		images = images[:0] // of the row as it is: a name is found by its old key
		for i := range moves {
			if images, err = imagesOfMove(&moves[i], images, row); err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.Table, source, l.KeyText(row), l.Columns[moves[i].Column], err)
			}
		}
		images = withoutCut(images, cuts, row)
		if rename != nil {
			if changed, err = rename(row); err != nil {
				return changed, err
			}
		}
		put(row, images)
		return changed || len(images) > 0, nil
	}
}

// withoutCut are the new values of a row but for references that are cleared, since their rows stay behind.
func withoutCut(images []change, cuts []cut, row []any) []change {
	return slices.DeleteFunc(images, func(image change) bool {
		return slices.ContainsFunc(cuts, func(cut cut) bool { return cut.column == image.column && cut.stay != nil && cut.refers(row) })
	})
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

// about reports whether a row is of the case.
func about(c *rowio.MoveCase, row []any) bool {
	return c.When == nil || c.On >= 0 && c.When.Holds(rowio.Printed(row[c.On]))
}

// MovesIn reports whether any row of a table gets new values.
func (c *Changes) MovesIn(l *rowio.Layout) bool {
	return c.Rekeying != nil && slices.ContainsFunc(c.Rekeying.Columns, func(m verdict.RekeyedColumn) bool { return m.Table == l.Table })
}

// OnlyMoves reports whether rows of a table of a source get new keys and nothing else, and no key
// becomes that of another row.
func (c *Changes) OnlyMoves(source string, l *rowio.Layout) bool {
	return c.inPlace(source, l) == nil && !slices.ContainsFunc(c.Moves(source, l), func(m rowio.Move) bool {
		return slices.ContainsFunc(m.Cases, func(of rowio.MoveCase) bool { return of.Shift.Match.Len() > 0 })
	})
}

// Moves returns the columns of a table of which values of a source get new ones.
func (c *Changes) Moves(source string, l *rowio.Layout) (all []rowio.Move) {
	if c.Rekeying == nil {
		return nil
	}
	for i := range c.Rekeying.Columns {
		column := &c.Rekeying.Columns[i]
		at := slices.Index(l.Columns, column.Column)
		if column.Table != l.Table || at < 0 {
			continue
		}
		m := rowio.Move{Column: at}
		for j := range column.Cases {
			of := &column.Cases[j]
			shift, err := c.Rekeying.Shift(of, source)
			if err != nil {
				panic(err) // the plan was validated
			}
			on := -1
			if of.When != nil {
				on = slices.Index(l.Columns, of.When.Column)
			}
			one := rowio.MoveCase{Space: of.Space, When: of.When, On: on, Shift: shift}
			if of.Format != "" {
				if slices.ContainsFunc(column.Cases[:j], func(first verdict.RekeyedCase) bool {
					return first.Format == of.Format && first.When.Text() == of.When.Text()
				}) {
					continue // one of several spaces with the same offset
				}
				if one.Cells, err = cell.ParseRow(of.Format, column.Column, c.codecs); err != nil {
					panic(err) // the plan was validated, and its codecs are there
				}
				for _, name := range one.Cells.Columns() {
					one.At = append(one.At, slices.Index(l.Columns, name))
				}
			}
			m.Cases = append(m.Cases, one)
		}
		if slices.ContainsFunc(m.Cases, func(c rowio.MoveCase) bool { return c.Shift.Moves() }) {
			all = append(all, m)
		}
	}
	return all
}

// imagesOfMove appends what becomes of the values of a row; nothing if they stay.
func imagesOfMove(m *rowio.Move, all []change, row []any) ([]change, error) {
	for i := range m.Cases {
		c := &m.Cases[i]
		switch {
		case !about(c, row):
			continue
		case c.Cells != nil:
			return inCells(m, all, row, func(c int, n rekey.Integer) (rekey.Integer, error) {
				image, ok := m.Cases[c].Shift.Image(n)
				if !ok {
					return image, fmt.Errorf("%s and %d is more than any column can hold", n, m.Cases[c].Shift.By)
				}
				return image, nil
			})
		case row[m.Column] == nil:
			return all, nil
		}
		image, err := imageOf(row[m.Column], c.Shift)
		if image != nil {
			all = append(all, change{m.Column, image})
		}
		return all, err
	}
	return all, nil
}

// inCells appends the cells of a row in which keys get new values: by image, which is told
// the case of each.
func inCells(m *rowio.Move, all []change, row []any, image func(c int, n rekey.Integer) (rekey.Integer, error)) ([]change, error) {
	var formats []*cell.Row
	var cases []int
	columns := make(map[string]int)
	for i := range m.Cases {
		if c := &m.Cases[i]; c.Cells != nil && about(c, row) {
			formats, cases = append(formats, c.Cells), append(cases, i)
			for k, name := range c.Cells.Columns() {
				columns[name] = c.At[k]
			}
		}
	}
	changed, err := cell.SpliceAll(formats, func(name string) []byte { return rowio.Printed(row[columns[name]]) },
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
	return rowio.As(v, n)
}

// imageOf returns what becomes of a value, of the same type; nil if it stays.
func imageOf(v any, shift *rekey.Shift) (any, error) {
	n, ok := rowio.AsInteger(v)
	if !ok {
		text := rowio.Printed(v)
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
	return rowio.As(v, image)
}
