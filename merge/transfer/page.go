package transfer

import (
	"context"
	"fmt"
)

// A page is a run of rows in the order of their keys. It is cut at pageBytes,
// so that memory does not depend on how long the rows are.
const pageBytes = 8 << 20

type page struct {
	rows  [][]any
	bytes int
	last  bool // there are no rows after it
	sum   Sum  // of all rows, if asked for
}

// readPage reads at most n rows, from after a key on; nil stands for the
// beginning. If there is a hasher, it sums them up.
func readPage(ctx context.Context, on *link, l *layout, after []any, n int, h *hasher) (*page, error) {
	query, args := l.page(after == nil), []any{}
	if after != nil {
		args = l.afterArgs(after)
	}
	p := &page{last: true}
	var room []any // for the rows to come
	err := on.rows(ctx, query, true, append(args[:len(args):len(args)], n), func(row []any) (bool, error) {
		if len(room) < len(row) {
			room = make([]any, len(row)*min(n-len(p.rows), 500))
		}
		r := room[:len(row):len(row)]
		room = room[len(row):]
		copy(r, row)
		p.rows = append(p.rows, r)
		p.bytes += l.tidy(r)
		if h != nil {
			sum, err := h.row(r)
			if err != nil {
				return false, err
			}
			p.sum = p.sum.Add(sum)
		}
		if p.bytes >= pageBytes {
			p.last = false
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading table %q of %q: %w", l.table, on.Name, err)
	}
	if len(p.rows) == n {
		p.last = false
	}
	return p, nil
}

// tidy gives the values of a row their one form, and returns about how many
// bytes they take.
func (l *layout) tidy(row []any) int {
	size := 0
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			size += len(v)
			if l.text[i] {
				row[i] = string(v)
			}
		case string:
			size += len(v)
		case uint64:
			row[i] = normal(v)
		}
		size += 16
	}
	return size
}

// contents reads a whole table and sums it up, as it is and as change makes
// it. change may be nil.
func contents(ctx context.Context, on *link, l *layout, change func(row []any) (bool, error), progress func(rows int)) (Content, error) {
	var c Content
	var h hasher
	var after []any
	const n = 2000
	for {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		p, err := readPage(ctx, on, l, after, n, nil)
		if err != nil {
			return c, err
		}
		for _, row := range p.rows {
			sum, err := h.row(row)
			if err != nil {
				return c, fmt.Errorf("table %q of %q: %w", l.table, on.Name, err)
			}
			c.Sum = c.Sum.Add(sum)
			after = l.keyOf(row)
			if change != nil {
				changed, err := change(row)
				if err != nil {
					return c, err
				}
				if changed {
					if sum, err = h.row(row); err != nil {
						return c, err
					}
				}
			}
			c.After = c.After.Add(sum)
		}
		c.Rows += int64(len(p.rows))
		if progress != nil {
			progress(len(p.rows))
		}
		if p.last {
			return c, nil
		}
	}
}
