package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Difference is one row of a source that the target does not have as it was
// copied, or one row of the target that is not as it was combined.
type Difference struct {
	Source  string   `json:"source"` // the target, if it had the row before the merge
	Table   string   `json:"table"`
	Key     string   `json:"key"` // see [KeyText]
	Missing bool     `json:"missing,omitempty"`
	Left    bool     `json:"left,omitempty"`    // the row is still there, after an undo
	Columns []string `json:"columns,omitempty"` // that have other values
}

func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("row %s of %s, from %q: is missing", KeyText(d.Key), d.Table, d.Source)
	}
	if d.Left {
		return fmt.Sprintf("row %s of %s, from %q: is still there", KeyText(d.Key), d.Table, d.Source)
	}
	return fmt.Sprintf("row %s of %s, from %q: %s has another value", KeyText(d.Key), d.Table, d.Source, strings.Join(d.Columns, ", "))
}

// maxSamples is the most differences that are shown. Counts are exact.
const maxSamples = 10

// compare compares rows of a source, the first most of those after a key, renamed as
// planned, with the rows of the target that have their keys. It calls differs for
// each pair that is not the same. It ends with ctx, also if soft has not ended.
func (r *run) compare(ctx, soft context.Context, source int, l *layout, after []any, most int64, differs func(d *Difference, row, there []any) error) error {
	src := r.sources[source]
	change := r.changes.of(src.Name, l)
	if most == 0 {
		return nil
	}
	size := l.dialect.most(len(l.key))
	next, stop := pages(soft, src, l, after, func() int { return size }, most, false)
	defer stop()
	for {
		if err := r.between(ctx); err != nil {
			return err
		}
		p, err := next()
		if err != nil || len(p.rows) == 0 {
			return err
		}
		if err := change.rows(p.rows); err != nil {
			return err
		}
		there, err := find(soft, r.target, l, l.selectEqual(len(p.rows)), p.rows)
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

// find returns the rows that a query for the keys of these rows returns; nil for a
// row that is not there.
//
// more are arguments of the query besides the keys, after them.
func find(ctx context.Context, on *connection, l *layout, query string, rows [][]any, more ...any) ([][]any, error) {
	places, err := l.places(rows)
	if err != nil {
		return nil, err
	}
	found := make([][]any, len(rows))
	args := append(l.boundOf(rows), more...)
	err = on.rows(ctx, query, len(rows) == l.dialect.most(len(l.key)), args, func(row []any) (bool, error) {
		row = slices.Clone(row)
		l.tidy(row)
		i, ok, err := places.of(row)
		if ok {
			found[i] = row
		}
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	return found, nil
}

// places tells which of several rows has the key of another one.
type places struct {
	l   *layout
	at  map[string]int
	buf []byte
}

func (l *layout) places(rows [][]any) (*places, error) {
	p := &places{l: l, at: make(map[string]int, len(rows))}
	for i, row := range rows {
		if err := p.encode(row); err != nil {
			return nil, err
		}
		p.at[string(p.buf)] = i
	}
	return p, nil
}

func (p *places) encode(row []any) (err error) {
	p.buf = p.buf[:0]
	for _, k := range p.l.key {
		if p.buf, err = appendKey(p.buf, row[k:k+1]); err != nil {
			return fmt.Errorf("table %q: the key column %q: %w", p.l.table, p.l.columns[k], err)
		}
	}
	return nil
}

// of returns the place of the row with the key of this row, if there is one.
func (p *places) of(row []any) (at int, ok bool, err error) {
	if err := p.encode(row); err != nil {
		return 0, false, err
	}
	at, ok = p.at[string(p.buf)]
	return at, ok, nil
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
// an error.
func (r *run) readAll(ctx context.Context) ([][]*apart, error) {
	r.step(r.ownRows() + 2*r.plan.Rows())
	found := make([][]*apart, len(r.plan.Tables))
	for i := range found {
		found[i] = make([]*apart, 1+len(r.plan.Sources))
	}
	err := r.inParallel(ctx, reading, r.parts(ofTarget, whole), func(ctx context.Context, w *run, p part) error {
		l, on := w.layouts[w.plan.Tables[p.table].Name], w.target
		if p.source != ofTarget {
			on = w.sources[p.source]
		}
		return w.retryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.table, on.Name), func(soft context.Context) (err error) {
			between := w.betweenPages(ctx, StepVerify, on, l)
			var c apart
			if w.changes.movesIn(l) {
				c, err = contentsApart(soft, on, l, w.changes.worldsOf(w.plan, l, p.source), between)
			} else {
				c.Content, err = contents(soft, on, l, all, nil, nil, between)
			}
			if err == nil {
				found[p.table][1+p.source] = &c
			}
			return err
		})
	})
	return found, err
}

// betweenPages is called after every page of a step that only reads.
func (r *run) betweenPages(ctx context.Context, step string, on *connection, l *layout) func(rows int) error {
	return func(rows int) error {
		r.progress(step, on.Name, l.table, rows)
		return r.between(ctx)
	}
}
