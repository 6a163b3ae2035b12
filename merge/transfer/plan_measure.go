package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"mergesafe/merge"
)

// measure counts and sums up the rows of every table in every database, as they are
// and as they will be. Several databases are read at a time.
func (p *planner) measure(ctx context.Context) error {
	var mu sync.Mutex
	now, databases := Progress{Step: StepMeasure}, make([]int, len(p.dbs))
	for i, s := range p.dbs {
		databases[i] = i
		now.Total += total(p.plan.Tables, func(t *Table) int64 { return p.rows[s.Name()][t.Name] })
	}
	progress := func(database, table string, rows int) {
		mu.Lock()
		defer mu.Unlock()
		now.Database, now.Table, now.Rows = database, table, now.Rows+int64(rows)
		if p.opts.Progress != nil {
			p.opts.Progress(now)
		}
	}
	changes, n := newChanges(p.plan, p.opts.Check.Codecs), min(DefaultParallel, len(databases))
	if p.refused(merge.CodeCellFormat) { // not every cell can be given new keys
		changes.rekeying = nil
	}
	refuse := func(r Refusal) {
		mu.Lock()
		defer mu.Unlock()
		p.refuse(r)
	}
	err := spread(ctx, n, databases, func(ctx context.Context, queue <-chan int) error {
		for i := range queue {
			p.dbs[i].on.share = n
			if err := p.measureIn(ctx, i, changes, progress, refuse); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.refused(merge.CodeKeySpace) {
		return nil // which rows come was not known, so they were counted in another way
	}
	for i := range p.plan.Tables {
		t := &p.plan.Tables[i]
		for j, s := range p.dbs {
			if c, want := t.in(j), p.rows[s.Name()][t.Name]; s.table(t.Name) != nil && c.Rows != want {
				p.refuse(Refusal{Source: s.Name(), Table: t.Name, Reason: fmt.Sprintf("it had %s when it was checked and %d a moment later: another process writes to it", countRows(want), c.Rows)})
			}
		}
	}
	return nil
}

// in is what a database has, by its number: the target is 0.
func (t *Table) in(database int) *Content {
	if database == 0 {
		return &t.Target
	}
	return &t.Sources[database-1]
}

// measureIn measures the tables of one database.
func (p *planner) measureIn(ctx context.Context, database int, changes *changes,
	progress func(database, table string, rows int), refuse func(Refusal)) error {
	s := p.dbs[database]
	for i := range p.plan.Tables {
		t := &p.plan.Tables[i]
		if s.table(t.Name) == nil {
			continue
		}
		l := newLayout(p.dbs[0].dialect, p.dbs[0].table(t.Name))
		var divide *ranger
		if database > 0 && !l.multiset() && t.Combine == nil {
			divide = &ranger{size: cmp.Or(p.opts.rangeRows, rangeRows)}
		}
		c, err := contents(ctx, s.on, l, all, changes.of(s.Name(), l), divide, func(n int) error {
			progress(s.Name(), t.Name, n)
			return ctx.Err()
		})
		if null, is := errors.AsType[*nullKeyError](err); is {
			refuse(Refusal{Source: s.Name(), Table: t.Name, Reason: null.Error()})
			c, err = Content{Rows: p.rows[s.Name()][t.Name]}, nil
		}
		if err != nil {
			return err
		}
		*t.in(database) = c
	}
	return nil
}
