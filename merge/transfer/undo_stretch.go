package transfer

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// stretch is some rows of a source, one after the other in the order of their keys,
// as they were read before anything was removed. The rows themselves are not kept:
// they are read again only if the target has other rows between them.
type stretch struct {
	rows int64
	sum  Sum   // of the rows as they are in the source
	came Sum   // of the rows as they came to the target
	last []any // the key of the last row, in the source

	// low and high are the keys of the first and the last row as they came. They are
	// nil if the keys did not come in the order that they have in the source.
	low, high []any
}

// stretchRows is the most rows of a stretch. A few hundred bytes stand for so many.
const stretchRows = 1000

// copied is what came of one part of the plan and is still to be removed.
type copied struct {
	from      checkpoint // of the removal, when it was read
	stretches []stretch
}

// stretchesOf reads the rows of a source that were copied and are not removed yet.
// They must be as they were when they were copied.
func (u *undo) stretchesOf(ctx, soft context.Context, w *run, src *connection, l *layout, p part) (*copied, Content, error) {
	var c Content // as copied
	was, err := w.checkpointOf(soft, StepCopy, p)
	if err != nil {
		return nil, c, err
	}
	from, err := w.checkpointOf(soft, StepUndo, p)
	if err != nil {
		return nil, c, err
	}
	all := &copied{from: *from}
	c.Rows, c.Sum = from.rows, from.sum
	w.resumed(StepCompare, src.Name, l.table, from.rows)
	if most := was.rows - from.rows; most > 0 {
		change, between := w.changes.of(src.Name, l), w.betweenPages(ctx, StepCompare, src, l)
		next, stop := pages(soft, src, l, from.after, func() int { return stretchRows }, most, true)
		defer stop()
		for last := false; !last; {
			page, err := next()
			if err != nil {
				return nil, c, err
			}
			if last = page.last; len(page.rows) == 0 {
				break
			}
			s, err := newStretch(l, page, change)
			if err != nil {
				return nil, c, fmt.Errorf("table %q of %q: %w", l.table, src.Name, err)
			}
			all.stretches = append(all.stretches, s)
			c.Rows, c.Sum, c.After = c.Rows+s.rows, c.Sum.Add(s.sum), c.After.Add(s.came)
			if err := between(len(page.rows)); err != nil {
				return nil, c, err
			}
		}
	}
	if c.Rows != was.rows || c.Sum != was.sum {
		err = &ChangedError{Database: src.Name, Table: l.table, Rows: c.Rows, Want: was.rows, Undo: true}
	}
	return all, c, err
}

// newStretch notes the rows of a page, and changes them to what came.
func newStretch(l *layout, p *page, change changer) (stretch, error) {
	s := stretch{rows: int64(len(p.rows)), sum: p.sum, came: p.sum, last: l.keptKey(p.rows[len(p.rows)-1])}
	ordered := true
	if change != nil {
		keys := make([][]any, len(p.rows))
		for i, row := range p.rows {
			keys[i] = l.keyOf(row)
		}
		if err := change.rows(p.rows); err != nil {
			return s, err
		}
		var h hasher
		s.came = Sum{}
		for _, row := range p.rows {
			sum, err := h.row(row)
			if err != nil {
				return s, err
			}
			s.came = s.came.Add(sum)
		}
		ordered = l.sameOrder(keys, p.rows)
	}
	if ordered {
		s.low, s.high = l.keptKey(p.rows[0]), l.keptKey(p.rows[len(p.rows)-1])
	}
	return s, nil
}

// keptKey returns the key of a row in memory of its own: that of a row which was read
// would keep many others.
func (l *layout) keptKey(row []any) []any {
	key := l.keyOf(row)
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
func (l *layout) sameOrder(before [][]any, rows [][]any) bool {
	for i, k := range l.key {
		var added uint64
		for n, row := range rows {
			old, now := before[n][i], row[k]
			var by uint64
			if !same(old, now) {
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
