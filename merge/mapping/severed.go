package mapping

import (
	"fmt"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/world"
)

// clearing returns what clears references of rows of a table of a world to rows that stay behind; nil if nothing
// does. It comes before new keys and names: what is cleared gets none.
func (c *Mapping) clearing(world string, l *world.Layout) world.Changer {
	cuts := c.cuts(world, l)
	if len(cuts) == 0 {
		return nil
	}
	return func(row []any) (changed bool, err error) {
		for i := range cuts {
			one, err := cuts[i].clear(row)
			if err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.Table, world, l.KeyText(row), l.Columns[cuts[i].column], err)
			}
			changed = changed || one
		}
		return changed, nil
	}
}

// cut is a column of which values that refer to what stays behind become nobody's.
type cut struct {
	column int
	none   keys.Values
	when   *rules.When
	on     int       // the column of the condition
	stay   *keys.Set // only these keys, if not nil
	key    rules.RowKey
	nobody any
	text   *string // the value that means nobody, in a column of texts

	cells  *world.Move  // where its keys are inside cells; nil: the value is the key
	number keys.Integer // the same, inside cells
}

// clear clears the reference of a row, if it is one to what stays behind.
func (c *cut) clear(row []any) (changed bool, err error) {
	if c.cells == nil {
		if changed = c.refers(row); changed {
			row[c.column] = c.instead(row)
		}
		return changed, nil
	}
	images, err := inCells(c.cells, nil, row, func(_ int, n keys.Integer) (keys.Integer, error) {
		if c.stay.Has(n) && !c.none.HasInteger(n) {
			return c.number, nil
		}
		return n, nil
	})
	put(row, images)
	return len(images) > 0, err
}

// instead is what the row gets, of the type that its column has.
func (c *cut) instead(row []any) any {
	if c.text == nil {
		return c.nobody
	}
	if _, is := row[c.column].([]byte); is {
		return []byte(*c.text)
	}
	return *c.text
}

func (c *Mapping) cuts(w string, l *world.Layout) (all []cut) {
	for _, s := range c.severed {
		if s.Table != l.Table || s.Gone != rules.GoneNone || w == c.first && !s.Partly {
			continue
		}
		var stay *keys.Set
		if s.Partly {
			if stay = c.stay(w, s.To); stay == nil || stay.Len() == 0 {
				continue
			}
		}
		none, err := keys.ParseValues(s.None)
		if err != nil {
			panic(err) // the plan was validated
		}
		one := cut{column: slices.Index(l.Columns, s.Column), none: none, when: s.When, stay: stay}
		one.key.Columns = []string{s.Column}
		if stay != nil {
			one.key.Kinds = stay.Kinds
		}
		if s.When != nil {
			one.on = slices.Index(l.Columns, s.When.Column)
		}
		if s.Becomes != nil && one.key.Kinds != "" {
			one.text = s.Becomes
		} else if s.Becomes != nil {
			one.number, _ = keys.ParseInteger([]byte(*s.Becomes))
			one.nobody, _ = world.As(int64(0), one.number)
		}
		if s.Format != "" {
			cells, err := keys.ParseRow(s.Format, s.Column, nil)
			if err != nil {
				panic(err) // the plan was validated
			}
			one.cells = &world.Move{Column: one.column, Cases: []world.MoveCase{{When: s.When, On: one.on, Cells: cells,
				At: slice.Map(cells.Columns(), func(name string) int { return slices.Index(l.Columns, name) })}}}
		}
		all = append(all, one)
	}
	return all
}

func (c *cut) refers(row []any) bool {
	value := world.Printed(row[c.column])
	if n, ok := c.key.Read(func(int) any { return row[c.column] }); c.stay != nil && !(ok && c.stay.HasKey(n)) {
		return false
	}
	return value != nil && !c.none.Has(value) && (c.when == nil || c.when.Holds(world.Printed(row[c.on])))
}
