package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Difference is one row of a source that the target does not have as it was
// copied.
type Difference struct {
	Source  string   `json:"source"`
	Table   string   `json:"table"`
	Key     string   `json:"key"` // see [KeyText]
	Missing bool     `json:"missing,omitempty"`
	Columns []string `json:"columns,omitempty"` // that have other values
}

func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("row %s of %s, from %q: is not there", KeyText(d.Key), d.Table, d.Source)
	}
	return fmt.Sprintf("row %s of %s, from %q: %s has another value", KeyText(d.Key), d.Table, d.Source, strings.Join(d.Columns, ", "))
}

// maxSamples is the most differences that are shown. Counts are exact.
const maxSamples = 10

// compare compares the rows of a source, the first most of them, renamed as
// planned, with the rows of the target that have their keys. It calls differs for
// each pair that is not the same. It ends with ctx, also if soft has not ended.
func (r *run) compare(ctx, soft context.Context, source int, l *layout, most int64, differs func(d *Difference, row, there []any) error) error {
	src := r.sources[source]
	change := r.changes.of(src.Name, l)
	if most == 0 {
		return nil
	}
	size := l.dialect.most(len(l.key))
	next, stop := pages(soft, src, l, nil, func() int { return size }, most, false)
	defer stop()
	for {
		if err := r.between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil {
			return err
		}
		if err := change.rows(p.rows); err != nil {
			return err
		}
		there, err := lookup(soft, r.target, l, p.rows)
		if err != nil {
			return err
		}
		for i, row := range p.rows {
			if d := l.difference(row, there[i]); d != nil {
				d.Source = src.Name
				if err := differs(d, row, there[i]); err != nil {
					return err
				}
			}
		}
		if p.last {
			return nil
		}
	}
}

// lookup reads the rows that have the keys of these rows; nil for a row that is not
// there.
func lookup(ctx context.Context, on *connection, l *layout, rows [][]any) ([][]any, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return find(ctx, on, l, l.selectFrom()+" WHERE "+l.equal(len(rows)), rows)
}

// find returns the rows that a query for the keys of these rows returns; nil for a
// row that is not there.
//
// more are arguments of the query besides the keys, after them.
func find(ctx context.Context, on *connection, l *layout, query string, rows [][]any, more ...any) ([][]any, error) {
	found := make([][]any, len(rows))
	places := make(map[string]int, len(rows))
	var args []any
	for i, row := range rows {
		key, err := encodeKey(l.keyOf(row))
		if err != nil {
			return nil, err
		}
		places[key] = i
		args = append(args, l.keyOf(row)...)
	}
	err := on.rows(ctx, query, len(rows) == l.dialect.most(len(l.key)), append(args, more...), func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.tidy(row)
		key, err := encodeKey(l.keyOf(row))
		if err != nil {
			return false, err
		}
		if i, ok := places[key]; ok {
			found[i] = row
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	return found, nil
}

// difference compares a row with what it should be; nil if it is the same.
func (l *layout) difference(want, there []any) *Difference {
	d := &Difference{Table: l.table}
	if there == nil {
		d.Missing = true
	} else {
		for i, name := range l.columns {
			if !same(want[i], there[i]) {
				d.Columns = append(d.Columns, name)
			}
		}
		if d.Columns == nil {
			return nil
		}
	}
	d.Key, _ = encodeKey(l.keyOf(want)) // has been read before
	return d
}

// ownRows is how many rows the target itself has in the tables of the plan.
func (r *run) ownRows() int64 {
	return total(r.plan.Tables, func(t *Table) int64 { return t.Target.Rows })
}

// readAll reads and sums up the rows of the target and the sources in the tables
// of the plan: by table, the target first; nil for what it did not read because of
// an error. With copied it reads of the sources only what has been copied, which
// must be as it was then.
func (r *run) readAll(ctx context.Context, step string, copied bool) ([][]*apart, error) {
	r.step(r.ownRows() + 2*r.plan.Rows())
	found := make([][]*apart, len(r.plan.Tables))
	for i := range found {
		found[i] = make([]*apart, 1+len(r.plan.Sources))
	}
	err := r.inParallel(ctx, reading, r.parts(ofTarget), func(ctx context.Context, w *run, p part) error {
		l, on := w.layouts[w.plan.Tables[p.table].Name], w.target
		if p.source != ofTarget {
			on = w.sources[p.source]
		}
		return w.retryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.table, on.Name), func(soft context.Context) error {
			var was *checkpoint
			var change changer
			most := int64(all)
			if p.source != ofTarget && copied {
				var err error
				if was, err = w.checkpoint(soft, StepCopy, on.Name, l.table); err != nil {
					return err
				}
				most, change = was.rows, w.changes.of(on.Name, l)
			}
			between := func(n int) error {
				w.progress(step, on.Name, l.table, n)
				return w.between(ctx)
			}
			var c apart
			var err error
			if !copied && w.changes.movesIn(l) {
				c, err = contentsApart(soft, on, l, w.changes.worldsOf(w.plan, l, p.source), between)
			} else {
				c.Content, err = contents(soft, on, l, most, change, between)
			}
			if err != nil {
				return err
			}
			if was != nil && (c.Rows != was.rows || c.Sum != was.sum) {
				return &ChangedError{Database: on.Name, Table: l.table, Rows: c.Rows, Want: was.rows, Undo: true}
			}
			found[p.table][1+p.source] = &c
			return nil
		})
	})
	return found, err
}
