package transfer

import (
	"fmt"
	"slices"
	"strconv"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// changes is all that a merge does to rows on their way: it gives keys new values, renames,
// and cuts what refers to rows that stay behind.
type changes struct {
	*renamer
	target   string
	severed  []merge.Severed
	rekeying *merge.Rekeying // nil: keys stay
}

func newChanges(p *Plan) *changes { return &changes{newRenamer(p), p.Target.Name, p.Severed, p.Rekey} }

// of returns what changes the rows of a table of a source; nil if nothing does.
func (c *changes) of(source string, l *layout) changer {
	rename, moves := c.inPlace(source, l), c.moves(source, l)
	if len(moves) == 0 {
		return rename
	}
	images := make([]any, len(moves))
	return func(row []any) (changed bool, err error) {
		clear(images) // of the row as it is: a name is found by its old key
		for i := range moves {
			if images[i], err = moves[i].image(row); err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.table, source, l.keyText(row), l.columns[moves[i].column], err)
			}
		}
		if rename != nil {
			if changed, err = rename(row); err != nil {
				return changed, err
			}
		}
		for i, image := range images {
			if image != nil {
				row[moves[i].column], changed = image, true
			}
		}
		return changed, nil
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
			m.cases = append(m.cases, moveCase{of.Space, of.When, on, shift})
		}
		if slices.ContainsFunc(m.cases, func(c moveCase) bool { return c.shift.By > 0 }) {
			all = append(all, m)
		}
	}
	return all
}

// image returns what becomes of the value of a row; nil if it stays.
func (m *move) image(row []any) (any, error) {
	v := row[m.column]
	if v == nil {
		return nil, nil
	}
	for _, c := range m.cases {
		if c.when != nil && (c.on < 0 || !c.when.Holds(printed(row[c.on]))) {
			continue
		}
		return imageOf(v, c.shift)
	}
	return nil, nil
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
			return nil, fmt.Errorf("%.40q is no number that can be given a new value", text)
		}
	}
	image, ok := shift.Image(n)
	if !ok {
		return nil, fmt.Errorf("%s and %d is more than any column takes", n, shift.By)
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
				return fmt.Errorf("transfer: the plan contradicts itself: the values of %s.%s that mean nobody: %w", c.Table, c.Column, err)
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
