package mapping

import (
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Mapping is all that a merge does to rows on their way: it gives keys new values, renames,
// and cuts what refers to rows that stay behind.
type Mapping struct {
	*Renamer
	first    string // the first world
	severed  []rules.Severed
	counters []plan.RowCounter
	Rekeying *verdict.Rekeying // nil: keys stay
	codecs   keys.Codecs
	stay     func(world, table string) *keys.Set // the keys of rows that stay behind
}

func NewMapping(p *plan.Plan, codecs keys.Codecs) *Mapping {
	return &Mapping{newRenamer(p), p.Worlds[0].Name, p.Severed, p.Counters, p.Rekey, codecs, p.KeysThatStay}
}

// Of returns what changes the rows of a table of a world; nil if nothing does.
func (c *Mapping) Of(world string, l *world.Layout) world.Changer {
	rename, moves := c.InPlace(world, l), c.Moves(world, l)
	if len(moves) == 0 {
		return rename
	}
	var images []Value
	without := c.WithoutCut(world, l)
	return func(row []any) (changed bool, err error) {
		images = images[:0] // of the row as it is: a name is found by its old key
		for i := range moves {
			if images, err = Images(&moves[i], images, row); err != nil {
				return false, fmt.Errorf("table %q of %q: row %s: %s: %w", l.Table, world, l.KeyText(row), l.Columns[moves[i].Column], err)
			}
		}
		images = without(images, row)
		if rename != nil {
			if changed, err = rename(row); err != nil {
				return changed, err
			}
		}
		Put(row, images)
		return changed || len(images) > 0, nil
	}
}

// MovesIn reports whether any row of a table gets new values.
func (c *Mapping) MovesIn(l *world.Layout) bool {
	return c.Rekeying != nil && slices.ContainsFunc(c.Rekeying.Columns, func(m verdict.RekeyedColumn) bool { return m.Table == l.Table })
}

// Moves returns the columns of a table of which values of a world get new ones.
func (c *Mapping) Moves(world string, l *world.Layout) []world.Move {
	return Of(c.Rekeying, c.codecs, world, l)
}
