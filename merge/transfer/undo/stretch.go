package undo

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
)

// stretch is some rows of a source, one after the other in the order of their keys,
// as they were read before anything was removed. The rows themselves are not kept:
// they are read again only if the target has other rows between them.
type stretch struct {
	rows int64
	sum  rowio.Sum // of the rows as they are in the source
	came rowio.Sum // of the rows as they came to the target
	last []any     // the key of the last row, in the source

	// low and high are the keys of the first and the last row as they came. They are
	// nil if the keys did not come in the order that they have in the source.
	low, high []any
}

// stretchRows is the most rows of a stretch. A few hundred bytes stand for so many.
const stretchRows = 1000

// cameRows is what came of one part of the plan and is still to be removed.
type cameRows struct {
	from      ledger.Checkpoint // of the removal, when it was read
	stretches []stretch
}

// stretchesOf reads the rows of a source that were copied and are not removed yet.
// They must be as they were when they were copied.
func (u *undo) stretchesOf(ctx, soft context.Context, w *job.Run, src *rowio.Connection, l *rowio.Layout, p plan.Part) (*cameRows, rowio.Content, error) {
	var c rowio.Content // as copied
	was, err := w.CheckpointOf(soft, ledger.StepCopy, p)
	if err != nil {
		return nil, c, err
	}
	from, err := w.CheckpointOf(soft, ledger.StepUndo, p)
	if err != nil {
		return nil, c, err
	}
	all := &cameRows{from: *from}
	c.Rows, c.Sum = from.Rows, from.Sum
	w.Resumed(ledger.StepCompare, src.Name, l.Table, from.Rows)
	if most := was.Rows - from.Rows; most > 0 {
		change, between := w.Changes.Of(src.Name, l), prove.BetweenPages(ctx, w, ledger.StepCompare, src, l)
		next, stop := rowio.Pages(soft, src, l, from.After, func() int { return stretchRows }, most, true)
		defer stop()
		for last := false; !last; {
			page, err := next()
			if err != nil {
				return nil, c, err
			}
			if last = page.Last; len(page.Rows) == 0 {
				break
			}
			s, err := newStretch(l, page, change)
			if err != nil {
				return nil, c, fmt.Errorf("table %q of %q: %w", l.Table, src.Name, err)
			}
			all.stretches = append(all.stretches, s)
			c.Rows, c.Sum, c.After = c.Rows+s.rows, c.Sum.Add(s.sum), c.After.Add(s.came)
			if err := between(len(page.Rows)); err != nil {
				return nil, c, err
			}
		}
	}
	if c.Rows != was.Rows || c.Sum != was.Sum {
		err = &ledger.ChangedError{Database: src.Name, Table: l.Table, Rows: c.Rows, Want: was.Rows, Undo: true}
	}
	return all, c, err
}

// newStretch notes the rows of a page, and changes them to what came.
func newStretch(l *rowio.Layout, p *rowio.Page, change rowio.Changer) (stretch, error) {
	s := stretch{rows: int64(len(p.Rows)), sum: p.Sum, came: p.Sum, last: keptKey(l, p.Rows[len(p.Rows)-1])}
	ordered := true
	if change != nil {
		keys := make([][]any, len(p.Rows))
		for i, row := range p.Rows {
			keys[i] = l.KeyOf(row)
		}
		if err := change.Rows(p.Rows); err != nil {
			return s, err
		}
		var h rowio.Hasher
		s.came = rowio.Sum{}
		for _, row := range p.Rows {
			sum, err := h.Row(row)
			if err != nil {
				return s, err
			}
			s.came = s.came.Add(sum)
		}
		ordered = sameOrder(l, keys, p.Rows)
	}
	if ordered {
		s.low, s.high = keptKey(l, p.Rows[0]), keptKey(l, p.Rows[len(p.Rows)-1])
	}
	return s, nil
}

// keptKey returns the key of a row in memory of its own: that of a row which was read
// would keep many others.
func keptKey(l *rowio.Layout, row []any) []any {
	key := l.KeyOf(row)
	for i, v := range key {
		switch v := v.(type) {
		case []byte:
			key[i] = bytes.Clone(v)
		case string:
			key[i] = strings.Clone(v)
		}
	}
	return key
}

// sameOrder reports whether rows certainly have the order of the keys that they had
// before: each column of the key is as it was in all of them, or one number was added
// to it in all of them.
func sameOrder(l *rowio.Layout, before [][]any, rows [][]any) bool {
	for i, k := range l.Key {
		var added uint64
		for n, row := range rows {
			old, now := before[n][i], row[k]
			var by uint64
			if !rowio.Same(old, now) {
				a, wasInteger := integer(old)
				b, isInteger := integer(now)
				if !wasInteger || !isInteger {
					return false
				}
				by = b - a
			}
			if n > 0 && by != added {
				return false
			}
			added = by
		}
	}
	return true
}

// integer returns the bits of an integer, by which differences can be told.
func integer(v any) (uint64, bool) {
	switch v := v.(type) {
	case int64:
		return uint64(v), true
	case uint64:
		return v, true
	}
	return 0, false
}
