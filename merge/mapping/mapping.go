package mapping

import (
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Mapping is all that a merge does to rows on their way: it gives keys new values, renames,
// and cuts references to rows that stay behind.
type Mapping struct {
	*renamer
	first    string // the first world
	severed  []rules.Severed
	counters []plan.RowCounter
	Rekeying *verdict.Rekeying // nil: keys stay
	codecs   keys.Codecs
	stay     func(world, table string) *keys.Set // the keys of rows that stay behind

	// Planned says that the plan was made: each value that it found can get a new one. One that cannot has come since, and
	// stays as it is: the sums tell that its row is not as planned.
	Planned bool
}

func NewMapping(p *plan.Plan, codecs keys.Codecs) *Mapping {
	return &Mapping{newRenamer(p), p.Worlds[0].Name, p.Severed, p.Counters, p.Rekey, codecs, p.KeysThatStay, false}
}

// Of returns what changes the rows of a table of a world; nil if nothing does.
func (c *Mapping) Of(world string, l *world.Layout) world.Changer {
	clearing, inPlace, moves := c.clearing(world, l), c.inPlace(world, l), c.Moves(world, l)
	if clearing == nil && inPlace == nil && len(moves) == 0 {
		return nil
	}
	var images []Value
	return func(row []any) (changed bool, err error) {
		if changed, err = clearing.Row(row); err != nil {
			return changed, err
		}
		images = images[:0] // put in last: a name is found by its old key
		for i := range moves {
			if images, err = c.images(&moves[i], images, row); err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.Table, world, l.KeyText(row), l.Columns[moves[i].Column], err)
			}
		}
		renamed, err := inPlace.Row(row)
		if err != nil {
			return changed, err
		}
		put(row, images)
		return changed || renamed || len(images) > 0, nil
	}
}

// images is imagesOf a row of a world.
func (c *Mapping) images(m *world.Move, all []Value, row []any) ([]Value, error) {
	more, err := imagesOf(m, all, row)
	if _, failed := errors.AsType[*keys.CodecError](err); err != nil && c.Planned && !failed {
		return all, nil
	}
	return more, err
}

// inPlace returns what gives rows of a table of a world, whose references are cleared, all but their new keys: names, and
// higher counters; nil if nothing does.
func (c *Mapping) inPlace(world string, l *world.Layout) world.Changer {
	rename := c.renamer.Of(world, l)
	if world == c.first {
		return c.raised(l, rename)
	}
	return rename
}

// Changing are the columns of a table of a world of which values change, but for those that only get new keys.
func (c *Mapping) Changing(world string, l *world.Layout) (columns []string) {
	add := func(column int) { columns = append(columns, l.Columns[column]) }
	for _, cut := range c.cuts(world, l) {
		add(cut.column)
		if cut.cells != nil {
			for _, at := range cut.cells.Cases[0].At {
				add(at)
			}
		}
	}
	for _, r := range c.renamer.columns(world, l) {
		add(r.column)
	}
	for _, n := range c.counters {
		if world == c.first && n.Table == l.Table && n.Column != "" {
			columns = append(columns, n.Column)
		}
	}
	return columns
}

// MovesIn reports whether any row of a table gets new values.
func (c *Mapping) MovesIn(l *world.Layout) bool {
	return c.Rekeying != nil && slices.ContainsFunc(c.Rekeying.Columns, func(m verdict.RekeyedColumn) bool { return m.Table == l.Table })
}
