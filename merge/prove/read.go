package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// tableRead is what was read of one table, in the new database and in each world; nil for what was
// not read because of an error.
type tableRead struct {
	now    *plan.Apart
	worlds []*plan.Apart
	lower  func(row []any) error // see [asMade]; nil if no value of the new database may have risen
}

// should is the sum that the table should have in the new database.
func (t *tableRead) should(of *plan.Table) (sum world.Sum) {
	if of.Combine != nil {
		return of.Combine.After
	}
	for _, w := range t.worlds {
		sum = sum.Add(w.After)
	}
	return sum
}

// whole reports whether all of it was read.
func (t *tableRead) whole() bool { return t.now != nil && !slices.Contains(t.worlds, nil) }

// newDatabase stands for the number of a world if a table of the new database is to be read.
const newDatabase = -1

// readWorlds reads and sums up the rows of the tables of the plan in the worlds.
func readWorlds(ctx context.Context, r *job.Run) ([]tableRead, error) {
	found := make([]tableRead, len(r.Plan.Tables))
	var parts []plan.Part
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		found[i].worlds = make([]*plan.Apart, len(r.Worlds))
		for j := range r.Worlds {
			if j > 0 && t.Worlds[j].Rows == 0 { // it may not have the table; its rows are counted where it has
				found[i].worlds[j] = new(plan.Apart)
				continue
			}
			parts = append(parts, plan.Part{Table: i, World: j})
		}
	}
	r.Tally.Step(r.Plan.Rows())
	return found, readParts(ctx, r, record.StepVerify, parts, found)
}

// readBeside has the rows of the new database summed up while the rules of the check read them.
func readBeside(r *job.Run, s *world.World, found []tableRead) {
	for i := range r.Plan.Tables {
		l := r.Layouts[r.Plan.Tables[i].Name]
		read := new(plan.Apart)
		a := &world.Aside{Layout: l, End: func() { found[i].now = read }}
		a.Begin = func() { a.Take = summing(r, l, read, found[i].lower) }
		found[i].now = nil
		s.ReadAside(a)
	}
}

// summing returns what sums up the rows of a table of the new database.
func summing(r *job.Run, l *world.Layout, c *plan.Apart, lower func(row []any) error) func(row []any) error {
	*c = plan.Apart{}
	take := func([]any, world.Sum) error { return nil }
	if r.Changes.MovesIn(l) {
		take = mapping.OriginsInNew(r.Changes, r.Plan, l).Apart(c)
	}
	var h world.Hasher
	return func(row []any) error {
		if lower != nil {
			if err := lower(row); err != nil {
				return err
			}
		}
		sum, err := h.Row(row)
		if err != nil {
			return err
		}
		c.Add(sum)
		return take(row, sum)
	}
}

// readRest reads and sums up the tables of the new database of which the rules of the check did not read all rows.
func readRest(ctx context.Context, r *job.Run, found []tableRead) error {
	var parts []plan.Part
	rows := int64(0)
	for i := range r.Plan.Tables {
		if found[i].now == nil {
			parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+r.Plan.Tables[i].Merged()
		}
	}
	r.Tally.Step(rows)
	return readParts(ctx, r, record.StepResult, parts, found)
}

// readParts reads and sums up parts.
func readParts(ctx context.Context, r *job.Run, step string, parts []plan.Part, found []tableRead) error {
	return r.InParallel(ctx, job.Reading, parts, func(ctx context.Context, w *job.Run, p plan.Part) error {
		l, on := w.Layouts[w.Plan.Tables[p.Table].Name], w.New
		if p.World != newDatabase {
			on = w.Worlds[p.World]
		}
		return w.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.Table, on.Name), func(soft context.Context) error {
			between := func(rows int) error {
				w.Progress(step, on.Name, l.Table, rows)
				return w.Between(ctx)
			}
			c, err := readPart(soft, w, p, on, l, found[p.Table].lower, between)
			if _, null := errors.AsType[*world.NullKeyError](err); null { // that row differs: the table is read in no order
				unordered := *l
				unordered.Key = nil
				c, err = readPart(soft, w, p, on, &unordered, nil, between)
			}
			if err == nil && p.World == newDatabase {
				found[p.Table].now = &c
			} else if err == nil {
				found[p.Table].worlds[p.World] = &c
			}
			return err
		})
	})
}

// readPart reads and sums up one part, in the order of the key of l if it has one.
func readPart(ctx context.Context, w *job.Run, p plan.Part, on *world.Connection, l *world.Layout, lower func(row []any) error, between func(rows int) error) (c plan.Apart, err error) {
	if p.World == newDatabase && lower != nil {
		add := summing(w, l, &c, lower) // of a few rows: they are hashed twice
		_, err = world.Contents(ctx, on, l, func(row []any, _ world.Sum) error { return add(row) }, between)
		return c, err
	}
	var take func(row []any, sum world.Sum) error
	switch moves := w.Changes.MovesIn(l); {
	case moves && p.World == newDatabase:
		take = mapping.OriginsInNew(w.Changes, w.Plan, l).Apart(&c)
	case moves:
		take = mapping.OriginsIn(w.Changes, w.Plan, l, p.World).Apart(&c)
	case p.World != newDatabase:
		var h world.Hasher
		change := w.Changes.Of(on.Name, l)
		take = func(row []any, sum world.Sum) error {
			became, err := h.Become(row, sum, change)
			c.After = c.After.Add(became)
			return err
		}
	}
	c.Content, err = world.Contents(ctx, on, l, take, between)
	return c, err
}

// asMade returns what gives a row of the new database the counters back that the merge gave it: a higher one was raised
// since, by the game, or by the undo of a later merge. It returns nil if the table has none.
func asMade(r *job.Run, t *plan.Table) func(row []any) error {
	l := r.Layouts[t.Name]
	if l == nil || l.Multiset() {
		return nil
	}
	type place struct {
		key string
		at  int
	}
	made := make(map[place]keys.Integer)
	note := func(table, column, key string, n uint64) {
		if table == t.Name && key != "" {
			made[place{key, slices.Index(l.Columns, column)}] = keys.Integer{Bits: n}
		}
	}
	for _, c := range r.Plan.Worlds[0].Given {
		note(c.Table, c.Column, c.Key, c.Next)
	}
	for _, c := range r.Plan.Counters {
		note(c.Table, c.Column, c.Key, c.After)
	}
	if len(made) == 0 {
		return nil
	}
	return func(row []any) error {
		key, err := world.EncodeKey(l.KeyOf(row))
		if err != nil {
			return nil // it has NULL there, and differs
		}
		for p, was := range made {
			n, ok := keys.ParseInteger(world.Printed(row[p.at]))
			if p.key == key && ok && was.Less(n) && err == nil {
				row[p.at], err = world.As(row[p.at], was)
			}
		}
		return err
	}
}
