package mapping

import (
	"cmp"
	"errors"
	"slices"

	"mergesafe/merge/keys"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Origins tells the rows of a table apart by the world that they came from. It is for one goroutine.
type Origins struct {
	mapping  *Mapping
	layout   *world.Layout
	moves    [][]worldMove // by world; none of one that keeps its keys
	matching []bool        // by world: it has keys that are matched

	// Of a table of a world, which is the number of that; of one of the new database, -1.
	world    int
	clearing world.Changer // the first of what its rows get in the new database,
	inPlace  world.Changer // and the rest without new keys

	hash         world.Hasher
	now, again   []any // room for a row as it is in the new database, and as it would be
	images, olds []Value
}

// worldMove is a column of which values of one world have moved.
type worldMove struct {
	world.Move
	ranges []keys.Range // of the new values, by case
}

// OriginsInNew tells the rows of a table of the new database apart.
func OriginsInNew(c *Mapping, p *plan.Plan, l *world.Layout) *Origins {
	w := &Origins{mapping: c, layout: l, world: -1, moves: make([][]worldMove, len(p.Worlds)), matching: make([]bool, len(p.Worlds))}
	for i, world := range p.Worlds {
		for _, m := range c.Moves(world.Name, l) {
			one := worldMove{Move: m}
			for _, moved := range m.Cases {
				one.ranges = append(one.ranges, p.Rekey.Space(moved.Space).Worlds[i].New)
				w.matching[i] = w.matching[i] || moved.Shift.Match.Len() > 0
			}
			w.moves[i] = append(w.moves[i], one)
		}
	}
	return w
}

// OriginsIn tells the rows of a table of a world apart: those whose keys become those of rows of another
// world belong to that.
func OriginsIn(c *Mapping, p *plan.Plan, l *world.Layout, world int) *Origins {
	w := OriginsInNew(c, p, l)
	w.world, w.clearing, w.inPlace = world, c.clearing(p.Worlds[world].Name, l), c.inPlace(p.Worlds[world].Name, l)
	return w
}

// group returns to which group a row of a world belongs, and the sum of what it becomes; sum is that of the row. The group
// is that of the world whose keys moved, or 0 if it keeps its keys, as all rows of the first world do. It gives the row its
// new names, and clears what it names that stays; changed tells whether it did.
func (w *Origins) group(row []any, sum world.Sum) (group int, changed bool, after world.Sum, err error) {
	if changed, err = w.clearing.Row(row); err != nil {
		return 0, false, sum, err
	}
	w.images = w.images[:0]
	for i := range w.moves[w.world] {
		m := &w.moves[w.world][i]
		if w.images, err = w.mapping.images(&m.Move, w.images, row); err != nil {
			return 0, false, sum, cmp.Or(w.layout.CodecFails(err, m.Column, row), err)
		}
	}
	came := len(w.images) > 0
	if came && w.matching[w.world] {
		w.now = append(w.now[:0], row...)
		put(w.now, w.images)
		if _, came, err = w.before(w.world, w.now); err != nil {
			return 0, false, sum, err
		}
	}
	renamed, err := w.inPlace.Row(row)
	if err != nil {
		return 0, false, sum, err
	}
	if changed = changed || renamed; !changed && len(w.images) == 0 {
		return 0, false, sum, nil
	}
	w.now = append(w.now[:0], row...)
	put(w.now, w.images)
	after, err = w.hash.Row(w.now)
	switch {
	case err != nil || len(w.images) == 0:
		return 0, changed, after, err
	case came:
		return w.world, changed, after, nil
	}
	// It has only keys that are matched, as rows of other worlds may have.
	put(row, w.images)
	group, _, err = w.groupInNew(row)
	return group, true, after, err
}

// groupInNew returns the group of a row as it is in the new database, and gives it its old keys back; changed tells whether
// these are others. A world has numbers in a range that no world before it has, and keys of those worlds, if keys are
// matched: so the last world with a number in its range is that of the row.
func (w *Origins) groupInNew(row []any) (group int, changed bool, err error) {
	for world := len(w.moves) - 1; world >= 0; world-- {
		olds, apart, err := w.before(world, row)
		if err != nil {
			return 0, false, err
		}
		if !apart {
			continue
		}
		if !w.matching[world] {
			put(row, olds)
			return world, true, nil
		}
		w.now = append(w.now[:0], row...)
		put(row, olds)
		if came, err := w.comes(world, row, w.now); err != nil || !came {
			copy(row, w.now) // it would have other values
			return 0, false, err
		}
		return world, true, nil
	}
	return 0, false, nil
}

// comes reports whether a row of a world, with its old keys, becomes that row of the new database.
// That is looked at where keys are matched: an old key may be a key of another world, too.
func (w *Origins) comes(of int, row, now []any) (bool, error) {
	for i := range w.moves[of] {
		m := &w.moves[of][i]
		if !slices.ContainsFunc(m.Cases, func(c world.MoveCase) bool { return c.Shift.Match.Len() > 0 }) {
			continue
		}
		images, err := w.mapping.images(&m.Move, nil, row)
		if err != nil {
			return false, cmp.Or(w.layout.CodecFails(err, m.Column, row), err)
		}
		w.again = append(w.again[:0], row...)
		image := w.again
		put(image, images)
		columns := []int{m.Column}
		for _, c := range m.Cases {
			columns = append(columns, c.At...)
		}
		if slices.ContainsFunc(columns, func(c int) bool { return !world.Same(image[c], now[c]) }) {
			return false, nil
		}
	}
	return true, nil
}

// before returns what the values of a row of the new database were, if it is one of a world, and whether
// that world's number was added to any of them.
func (w *Origins) before(world int, row []any) (olds []Value, shifted bool, err error) {
	w.olds = w.olds[:0]
	for i := range w.moves[world] {
		m, one := &w.moves[world][i], false
		if w.olds, one, err = m.before(w.olds, row); err != nil {
			return nil, false, cmp.Or(w.layout.CodecFails(err, m.Column, row), err)
		}
		shifted = shifted || one
	}
	return w.olds, shifted, nil
}

// before appends what the values of a row were before they moved, nothing if they did not; shifted tells whether the
// shift of their world was added to any of them.
func (m *worldMove) before(all []Value, row []any) (olds []Value, shifted bool, err error) {
	for i := range m.Cases {
		c := &m.Cases[i]
		if !c.About(row) {
			continue
		}
		if c.Cells != nil {
			olds, err = inCells(&m.Move, all, row, func(c int, n keys.Integer) (keys.Integer, error) {
				old, one, moved := m.old(c, n)
				if !moved {
					return n, nil
				}
				shifted = shifted || one
				return old, nil
			})
			if failed, is := errors.AsType[*keys.CodecError](err); is {
				return all, false, failed
			}
			if err != nil {
				return all, false, nil // as it is in no row that came
			}
			return olds, shifted, nil
		}
		if !c.Shift.Moves() {
			return all, false, nil
		}
		n, ok := world.AsInteger(row[m.Column])
		if !ok {
			text := world.Printed(row[m.Column])
			if n, ok = keys.ParseInteger(text); !ok || c.Shift.Stay.Has(text) {
				return all, false, nil
			}
		}
		old, shifted, moved := m.old(i, n)
		if !moved {
			return all, false, nil
		}
		v, err := world.As(row[m.Column], old)
		return append(all, Value{m.Column, v}), shifted, err
	}
	return all, false, nil
}

// old returns what a number of a case was before it moved, and whether the world's number was
// added to it.
func (m *worldMove) old(i int, n keys.Integer) (old keys.Integer, shifted, moved bool) {
	c, r := &m.Cases[i], m.ranges[i]
	if c.Shift.Stay.HasInteger(n) {
		return old, false, false
	}
	if old, matched := c.Shift.Match.Old(n); matched {
		return old, false, true
	}
	if c.Shift.By == 0 || !r.Any || n.Less(r.Low) || r.High.Less(n) {
		return old, false, false
	}
	old, moved = n.Sub(c.Shift.By)
	if _, matched := c.Shift.Match.Image(old); matched {
		return old, false, false // that one became another
	}
	return old, true, moved
}

// Apart returns what sums up the groups of [Origins], of rows that it is called with and their sums. It changes the rows.
func (w *Origins) Apart(c *plan.Apart) (take func(row []any, sum world.Sum) error) {
	c.Groups = make([]world.Content, len(w.moves))
	return func(row []any, sum world.Sum) (err error) {
		group, changed, after := 0, false, sum
		if w.world < 0 {
			group, changed, err = w.groupInNew(row)
		} else if group, changed, after, err = w.group(row, sum); err == nil {
			c.After = c.After.Add(after)
		}
		if err == nil && changed {
			sum, err = w.hash.Row(row)
		}
		c.Groups[group].Add(sum)
		return err
	}
}

// OldRows returns the rows of the new database that may have come from a world, with the keys
// that they had there, and the place of each among all.
func OldRows(c *Mapping, p *plan.Plan, w int, l *world.Layout, rows [][]any) (olds [][]any, at []int, err error) {
	moves := OriginsInNew(c, p, l).moves[w]
	for i, row := range rows {
		old, came := slices.Clone(row), true
		for k := range moves {
			olds, _, err := moves[k].before(nil, row)
			if err != nil {
				return nil, nil, cmp.Or(l.CodecFails(err, moves[k].Column, row), err)
			}
			put(old, olds)
			again, err := imagesOf(&moves[k].Move, nil, old) // as a value of that world it would have moved
			if failed := l.CodecFails(err, moves[k].Column, row); failed != nil {
				return nil, nil, failed
			}
			moved := slices.Clone(old)
			put(moved, again)
			touched := slices.Concat(olds, again)
			came = came && err == nil && !slices.ContainsFunc(touched, func(v Value) bool { return !world.Same(moved[v.Column], row[v.Column]) })
		}
		if came {
			olds, at = append(olds, old), append(at, i)
		}
	}
	return olds, at, nil
}
