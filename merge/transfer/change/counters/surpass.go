package counters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/write"
)

// surpass raises the counters of the first world above what the new database has given.
func surpass(ctx context.Context, r *job.Run, first *rowio.Connection) error {
	there, err := r.Target.Texts(ctx, r.Target.Dialect().TableNames())
	if err != nil {
		return err
	}
	for _, t := range counted(r.Plan) {
		if err := raiseCounter(ctx, r, first, t, there); err != nil {
			return err
		}
	}
	return raiseDeclared(ctx, r, first)
}

// counted are the tables with a counter.
func counted(p *plan.Plan) (all []plan.Counted) {
	for _, t := range p.Tables {
		if t.Counter != nil {
			all = append(all, plan.Counted{Table: t.Name, Column: t.Counter.Column})
		}
	}
	return append(all, p.Into.Counters...)
}

// raiseCounter raises the counter of a table of the first world to that of the new database.
func raiseCounter(ctx context.Context, r *job.Run, first *rowio.Connection, t plan.Counted, there []string) error {
	if !slices.ContainsFunc(there, func(n string) bool { return strings.EqualFold(n, t.Table) }) {
		return nil
	}
	next, err := schema.Counter(ctx, r.Target, t.Table)
	if err != nil {
		return err
	}
	was, err := schema.Counter(ctx, first, t.Table)
	if err != nil || next <= was {
		return err
	}
	if err := write.SetCounter(ctx, first, t.Table, t.Column, next); err != nil {
		return fmt.Errorf("raising the counter of table %q of %q above what was given in %q: %w", t.Table, r.First.Name, r.Target.Name, err)
	}
	return nil
}

// raiseDeclared raises the counters in rows, and the sequences, that the merge had raised.
func raiseDeclared(ctx context.Context, r *job.Run, first *rowio.Connection) error {
	if len(r.Plan.Counters) == 0 {
		return nil
	}
	if err := r.Learn(ctx); err != nil {
		return err
	}
	for _, c := range r.Plan.Counters {
		if err := raiseOne(ctx, r, first, &c); err != nil {
			return fmt.Errorf("raising the counter %s of %q above what was given in %q: %w", c.Table, r.First.Name, r.Target.Name, err)
		}
	}
	return nil
}

func raiseOne(ctx context.Context, r *job.Run, first *rowio.Connection, c *plan.RowCounter) error {
	d := r.Target.Dialect()
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
	if err == nil {
		_, err = first.Exec(ctx, "counter", fmt.Sprintf("UPDATE %s SET %s = %d%s AND %[2]s < %[3]d", d.Quote(c.Table), d.Quote(c.Column), n, where), false, args...)
	}
	return err
}
