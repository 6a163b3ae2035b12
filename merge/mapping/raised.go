package mapping

import (
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/world"
)

// raised raises the counters in rows of a table of the first world, after another change. One that is above already stays:
// in a rehearsal the world may run.
func (c *Mapping) raised(l *world.Layout, before world.Changer) world.Changer {
	next := make(map[string]map[int]keys.Integer) // by key and column
	for _, n := range c.counters {
		if n.Table != l.Table || n.Column == "" {
			continue
		}
		if next[n.Key] == nil {
			next[n.Key] = make(map[int]keys.Integer)
		}
		next[n.Key][slices.Index(l.Columns, n.Column)] = keys.Integer{Bits: n.After}
	}
	if len(next) == 0 {
		return before
	}
	return func(row []any) (changed bool, err error) {
		key, err := world.EncodeKey(l.KeyOf(row))
		if err != nil {
			return false, err
		}
		if changed, err = before.Row(row); err != nil {
			return changed, err
		}
		for column, n := range next[key] {
			if is, ok := keys.ParseInteger(world.Printed(row[column])); ok && !is.Less(n) {
				continue
			}
			changed = true
			if row[column], err = world.As(row[column], n); err != nil {
				return changed, err
			}
		}
		return changed, nil
	}
}
