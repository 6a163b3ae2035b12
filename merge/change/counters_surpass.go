package change

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Surpass raises the counters of a world above what a new database has given that is dropped: of another than the first,
// those of tables whose rows kept their keys. to is opened only if there is something to raise. [job.Run.Know] must have been
// called.
func Surpass(ctx context.Context, r *job.Run, w int, to *world.Connection) error {
	there, err := r.Worlds[w].Texts(ctx, to.Dialect().TableNames())
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(r.Keys)) { // also of tables without a row: there may be some now
		column := r.Keys[table].Counts
		if column == "" || !slices.Contains(there, table) || w > 0 && !counterStays(r.Plan, w, table, column) {
			continue
		}
		if err := raiseCounter(ctx, r, r.Worlds[w], to, table, column); err != nil {
			return err
		}
	}
	if w > 0 {
		return nil
	}
	have, err := world.Contains(ctx, r.New)
	if err != nil {
		return err
	}
	for _, c := range r.Plan.Counters {
		if !slices.Contains(have, c.Table) {
			continue // it was not made yet, or was dropped
		}
		if err := raiseOne(ctx, r, to, &c); err != nil {
			return fmt.Errorf("raising the counter %s of %q above the numbers used in %q: %w", c.Table, r.Worlds[0].Name, r.New.Name, err)
		}
	}
	return nil
}

// counterStays reports whether the keys that a counter of a world counts came as they were.
func counterStays(p *plan.Plan, world int, table, column string) bool {
	if p.Comes(world, table) == nil {
		return false
	}
	c := p.NewKeys().Column(table, column)
	return c == nil || p.Rekey.Offset(c.Cases[0].Space, p.Worlds[world].Name) == 0
}

// raiseCounter raises the counter of a table of a world, which is read by one connection and written by another, to that of
// the new database.
func raiseCounter(ctx context.Context, r *job.Run, w, to *world.Connection, table, column string) error {
	next, err := world.Counter(ctx, r.New, table)
	if err != nil {
		return err
	}
	was, err := world.Counter(ctx, w, table)
	if err != nil || next <= was {
		return err
	}
	defer w.Drop() // it is read anew
	if err := job.SetCounter(ctx, to, table, column, next); err != nil {
		return fmt.Errorf("raising the counter of table %q of %q above the numbers used in %q: %w", table, w.Name, r.New.Name, err)
	}
	return nil
}

// raiseOne raises a counter in a row, or a sequence, that the merge had raised.
func raiseOne(ctx context.Context, r *job.Run, first *world.Connection, c *plan.RowCounter) error {
	d := r.New.Dialect()
	if c.Column == "" {
		if there, err := world.TablesOf(ctx, r.New, "SEQUENCE", []string{c.Table}); err != nil || len(there) == 0 { // others made a table of its name
			return err
		}
		next, err := sequenceAt(ctx, r, c)
		if err == nil {
			err = setSequence(ctx, first, c.Table, next)
		}
		return err
	}
	n, found, err := counterValue(ctx, r, c)
	if err != nil || !found {
		return err
	}
	where, args, err := counterKey(r, c)
	if err != nil {
		return err
	}
	behind, err := r.Worlds[0].Number(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s%s AND %s < %d", d.Quote(c.Table), where, d.Quote(c.Column), n), false, args...)
	if err == nil && behind > 0 {
		defer r.Worlds[0].Drop() // it is read anew
		_, err = first.Exec(ctx, "counter", fmt.Sprintf("UPDATE %s SET %s = %d%s AND %[2]s < %[3]d", d.Quote(c.Table), d.Quote(c.Column), n, where), false, args...)
	}
	return err
}
