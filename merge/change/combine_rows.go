package change

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/mapping"
	"mergesafe/merge/rules"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// combiner finds the rows of one table that are to be combined, in all databases.
type combiner struct {
	plan     *plan.Plan
	table    *plan.Table
	changes  *mapping.Mapping
	Worlds   []*world.Connection
	L        *world.Layout
	Formulas []rules.Formula // by column of the layout
	When     int             // the column of the condition, or -1
}

// combinerOf is that of a run.
func combinerOf(r *job.Run, table int) *combiner {
	t := &r.Plan.Tables[table]
	return newCombiner(r.Plan, t, r.Changes, r.Worlds, r.Layouts[t.Name])
}

func newCombiner(p *plan.Plan, t *plan.Table, changes *mapping.Mapping, worlds []*world.Connection, l *world.Layout) *combiner {
	c := &combiner{plan: p, table: t, changes: changes, Worlds: worlds, L: l, When: -1}
	for _, name := range l.Columns {
		c.Formulas = append(c.Formulas, t.Combine.Formula(name))
	}
	if t.Combine.When != nil {
		c.When = slices.Index(l.Columns, t.Combine.When.Column)
	}
	return c
}

// Groups returns the rows that come with those of a world, and that no earlier world brings. It
// changes the rows on their way.
func (c *combiner) Groups(ctx context.Context, world int, rows [][]any) ([]combineGroup, error) {
	if _, err := c.changes.Of(c.Worlds[world].Name, c.L).Rows(rows); err != nil {
		return nil, err
	}
	for i := range world {
		there, err := c.ofWorld(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		var rest [][]any
		for k, row := range rows {
			if there[k] == nil {
				rest = append(rest, row)
			}
		}
		rows = rest
	}
	all := make([]combineGroup, len(rows))
	for k, row := range rows {
		all[k] = combineGroup{row}
	}
	for i := world + 1; i < len(c.Worlds); i++ {
		there, err := c.ofWorld(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		for k := range rows {
			if there[k] != nil {
				all[k] = append(all[k], there[k])
			}
		}
	}
	return all, nil
}

// ofWorld returns the rows of a world that come with the keys of these, as they come; nil
// for one that it does not have.
func (c *combiner) ofWorld(ctx context.Context, w int, rows [][]any) ([][]any, error) {
	from, there := c.Worlds[w], make([][]any, len(rows))
	if c.table.Worlds[w].Rows == 0 || len(rows) == 0 {
		return there, nil // it may not have the table
	}
	its := make([][]any, len(rows))
	for i, row := range rows {
		its[i] = c.L.KeyOf(row)
	}
	olds, places, err := mapping.OldRows(c.changes, c.plan, w, c.L.KeysOnly(), its)
	if err != nil {
		return nil, err
	}
	var wanted [][]any
	var at []int
	of, known := c.rangeIn(w)
	for i, old := range olds {
		if n, is := world.AsInteger(old[0]); known && is && !of.Meets(keys.Range{Low: n, High: n, Any: true}) {
			continue
		}
		row := make([]any, len(c.L.Columns))
		for k, column := range c.L.Key {
			row[column] = old[k]
		}
		wanted, at = append(wanted, row), append(at, places[i])
	}
	if len(wanted) == 0 {
		return there, nil
	}
	found, err := lookUp(ctx, from, c.L, wanted)
	if err != nil {
		return nil, err
	}
	way := c.changes.Of(from.Name, c.L)
	for i, row := range found {
		if row == nil {
			continue
		}
		if _, err := way.Row(row); err != nil {
			return nil, err
		}
		same, err := equalKeys(c.L.KeyOf(row), its[at[i]])
		if err != nil {
			return nil, err
		}
		if same {
			there[at[i]] = row
		}
	}
	return there, nil
}

// rangeIn is where the keys of a world lie in their space; ok is false if that is not known. Keys that others got mostly lie
// outside of it: a server that is asked for many of them reads the whole table.
func (c *combiner) rangeIn(w int) (of keys.Range, ok bool) {
	if len(c.L.Key) > 1 {
		return of, false
	}
	moved := c.plan.Rekey.Column(c.table.Name, c.L.Columns[c.L.Key[0]])
	if moved == nil || !moved.Key {
		return of, false
	}
	space := c.plan.Rekey.Space(moved.Cases[0].Space)
	return space.Worlds[w].Keys, space.Keep == ""
}

// equalKeys compares keys as the database does: 0 and -0 are one.
func equalKeys(a, b []any) (bool, error) {
	one, err := world.AppendKey(nil, a)
	if err != nil {
		return false, err
	}
	other, err := world.AppendKey(nil, b)
	return bytes.Equal(one, other), err
}

// lookUp returns the rows that come with the keys of these; nil for one that is not there. A row of which the database
// says that it has such a key, and that writes it in another way, is an error: to which of two it would belong is not to
// be guessed.
func lookUp(ctx context.Context, on *world.Connection, l *world.Layout, rows [][]any) ([][]any, error) {
	var found [][]any
	for some := range slices.Chunk(rows, l.Dialect.Most(len(l.Key))) {
		query := l.SelectFrom() + world.Where("("+l.Equal(len(some))+")", on.Comes(l.Table))
		there, others, err := world.Find(ctx, on, l, query, some)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 {
			return nil, &combineError{"", fmt.Sprintf("the key of row %s of %q is written differently in another database, although both compare as equal: write them in the same way", l.KeyText(others[0]), on.Name)}
		}
		found = append(found, there...)
	}
	return found, nil
}
