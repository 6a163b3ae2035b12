package counters

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/write"
)

// surpass raises the counters of the first world above what the new database has given. first is opened only if there is
// something to raise.
func surpass(ctx context.Context, r *job.Run, first *rowio.Connection) error {
	there, err := r.Worlds[0].Texts(ctx, first.Dialect().TableNames())
	if err != nil {
		return err
	}
	type column struct{ Table, Column string }
	var counted []column // also tables without a row: there may be some now
	err = r.LookAt(ctx, func(s *rowio.Source) error {
		r.Know(s)
		counted = nil
		for _, t := range s.Known.Tables {
			if t.AutoIncrement != nil && slices.Contains(there, t.Name) {
				counted = append(counted, column{t.Name, t.AutoIncrement.Column})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range counted {
		if err := raiseCounter(ctx, r, first, t.Table, t.Column); err != nil {
			return err
		}
	}
	for _, c := range r.Plan.Counters {
		if err := raiseOne(ctx, r, first, &c); err != nil {
			return fmt.Errorf("raising the counter %s of %q above what was given in %q: %w", c.Table, r.Worlds[0].Name, r.New.Name, err)
		}
	}
	return nil
}

// raiseCounter raises the counter of a table of the first world to that of the new database.
func raiseCounter(ctx context.Context, r *job.Run, first *rowio.Connection, table, column string) error {
	next, err := schema.Counter(ctx, r.New, table)
	if err != nil {
		return err
	}
	was, err := schema.Counter(ctx, r.Worlds[0], table)
	if err != nil || next <= was {
		return err
	}
	defer r.Worlds[0].Drop()                  // it is read anew
	if !first.Dialect().MySQL() && was == 0 { // the table never had a row there
		_, err := first.Exec(ctx, "counter", "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", false, table, int64(next-1))
		return err
	}
	if err := write.SetCounter(ctx, first, table, column, next); err != nil {
		return fmt.Errorf("raising the counter of table %q of %q above what was given in %q: %w", table, r.Worlds[0].Name, r.New.Name, err)
	}
	return nil
}

// raiseOne raises a counter in a row, or a sequence, that the merge had raised.
func raiseOne(ctx context.Context, r *job.Run, first *rowio.Connection, c *plan.RowCounter) error {
	d := r.New.Dialect()
	if c.Column == "" {
		next, err := sequenceAt(ctx, r, c)
		if err == nil { // which lowers none
			_, err = first.Exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", d.Quote(c.Table), next), false)
		}
		return err
	}
	n, found, err := valueOf(ctx, r, c)
	if err != nil || !found {
		return err
	}
	where, args, err := keyOf(r, c)
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
