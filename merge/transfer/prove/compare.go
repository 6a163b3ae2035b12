package prove

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/change/origin"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Compare compares rows of a source, the first most of those after a key, renamed as
// planned, with the rows of the target that have their keys. It calls differs for
// each pair that is not the same. It ends with ctx, also if soft has not ended.
func Compare(r *job.Run, ctx, soft context.Context, source int, l *rowio.Layout, after []any, most int64, differs func(d *evidence.Difference, row, there []any) error) error {
	src := r.Sources[source]
	change := r.Changes.Of(src.Name, l)
	if most == 0 {
		return nil
	}
	size := l.Dialect.Most(len(l.Key))
	next, stop := rowio.Pages(soft, src, l, after, func() int { return size }, most, false)
	defer stop()
	for {
		if err := r.Between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil || len(p.Rows) == 0 {
			return err
		}
		if err := change.Rows(p.Rows); err != nil {
			return err
		}
		there, err := rowio.Find(soft, r.Target, l, l.SelectEqual(len(p.Rows)), p.Rows)
		if err != nil {
			return err
		}
		for i, row := range p.Rows {
			if d := evidence.DifferenceOf(l, row, there[i]); d != nil {
				d.Source = src.Name
				if err := differs(d, row, there[i]); err != nil {
					return err
				}
			}
		}
		if p.Last {
			return nil
		}
	}
}

// OwnRows is how many rows the target itself has in the tables of the plan.
func OwnRows(r *job.Run) int64 {
	return rowio.Total(r.Plan.Tables, func(t *plan.Table) int64 { return t.Target.Rows })
}

// readAll reads and sums up the rows of the target and the sources in the tables
// of the plan: by table, the target first; nil for what it did not read because of
// an error.
func readAll(ctx context.Context, r *job.Run) ([][]*plan.Apart, error) {
	found := make([][]*plan.Apart, len(r.Plan.Tables))
	for i := range found {
		found[i] = make([]*plan.Apart, 1+len(r.Plan.Sources))
	}
	parts := r.Parts(plan.OfTarget, plan.Whole)
	unread, err := untouched(ctx, r)
	if err != nil {
		return found, err
	}
	parts = slices.DeleteFunc(parts, func(p plan.Part) bool { return p.Source != plan.OfTarget && unread(p) })
	r.Step(rowsOf(r.Plan, parts))
	if err := readParts(ctx, r, parts, found); err != nil {
		return found, err
	}
	return found, readParts(ctx, r, asPlanned(r, found), found)
}

// rowsOf is how many rows parts have.
func rowsOf(p *plan.Plan, parts []plan.Part) (n int64) {
	for _, of := range parts {
		if t := &p.Tables[of.Table]; of.Source != plan.OfTarget {
			n += t.Sources[of.Source].Rows
		} else {
			n += t.Merged().Rows
		}
	}
	return n
}

// readParts reads and sums up parts.
func readParts(ctx context.Context, r *job.Run, parts []plan.Part, found [][]*plan.Apart) error {
	return r.InParallel(ctx, job.Reading, parts, func(ctx context.Context, w *job.Run, p plan.Part) error {
		l, on := w.Layouts[w.Plan.Tables[p.Table].Name], w.Target
		if p.Source != plan.OfTarget {
			on = w.Sources[p.Source]
		}
		return w.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.Table, on.Name), func(soft context.Context) (err error) {
			between := BetweenPages(ctx, w, ledger.StepVerify, on, l)
			var c plan.Apart
			if w.Changes.MovesIn(l) {
				c, err = origin.Contents(soft, on, l, origin.In(w.Changes, w.Plan, l, p.Source), between)
			} else {
				c.Content, err = rowio.Contents(soft, on, l, rowio.All, nil, nil, between)
			}
			if err == nil {
				found[p.Table][1+p.Source] = &c
			}
			return err
		})
	})
}

// BetweenPages is called after every page of a step that only reads.
func BetweenPages(ctx context.Context, r *job.Run, step string, on *rowio.Connection, l *rowio.Layout) func(rows int) error {
	return func(rows int) error {
		r.Progress(step, on.Name, l.Table, rows)
		return r.Between(ctx)
	}
}
