package transfer

import (
	"context"
	"fmt"
	"math"
	"strconv"
)

// A page is a run of rows in the order of their keys. It is cut at pageBytes,
// or the share of it that a worker has, so that memory depends neither on how
// long the rows are nor on how many work.
const pageBytes = 8 << 20

type page struct {
	rows  [][]any
	bytes int
	last  bool // there are no rows after it
	sum   Sum  // of all rows, if asked for
}

// readPage reads at most n rows, from after a key on; nil stands for the
// beginning. If there is a hasher, it sums them up.
func readPage(ctx context.Context, on *connection, l *layout, after []any, n int, h *hasher) (*page, error) {
	query, args, limit := l.page(after == nil, on.comes(l.table)), []any{}, pageBytes/max(1, on.share)
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
		if p.bytes >= limit {
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
			switch {
			case l.text[i]:
				row[i] = string(v)
			case l.big != nil && l.big[i]: // the driver gives an integer beyond int64 as digits
				if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
					row[i] = normal(n)
				}
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

// pages reads a table page by page in the background, one page ahead, from
// after a key on, and no more rows than most. size says how many rows the next
// page should have. With summed, every page has its sum.
func pages(ctx context.Context, on *connection, l *layout, after []any, size func() int, most int64, summed bool) (next func() (*page, error), stop func()) {
	type answer struct {
		page *page
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, 1)
	done := make(chan struct{})
	go func() {
		var h *hasher
		if summed {
			h = new(hasher)
		}
		defer close(done)
		defer close(answers)
		for {
			p, err := readPage(ctx, on, l, after, int(min(int64(size()), most)), h)
			if err == nil {
				most -= int64(len(p.rows))
				p.last = p.last || most == 0
				if !p.last { // now: who gets the page may change its keys
					after = l.keyOf(p.rows[len(p.rows)-1])
				}
			}
			select {
			case answers <- answer{p, err}:
			case <-ctx.Done():
				return
			}
			if err != nil || p.last {
				return
			}
		}
	}()
	next = func() (*page, error) {
		a, ok := <-answers
		if !ok {
			return nil, ctx.Err()
		}
		return a.page, a.err
	}
	return next, func() { cancel(); <-done }
}

// contents reads the rows of a table, the first most of them, and sums them
// up, as they are and as change makes them. change may be nil, and divide too. between
// is called after every page with its number of rows; its error ends the reading.
func contents(ctx context.Context, on *connection, l *layout, most int64, change changer, divide *ranger, between func(rows int) error) (Content, error) {
	var c Content
	var h hasher
	if most == 0 {
		return c, nil
	}
	if l.multiset() { // none of it is copied, or all
		return contentsOfMultiset(ctx, on, l, change, between)
	}
	next, stop := pages(ctx, on, l, nil, func() int { return 2000 }, most, false)
	defer stop()
	for {
		p, err := next()
		if err != nil {
			return c, err
		}
		for _, row := range p.rows {
			sum, err := h.row(row)
			if err != nil {
				return c, fmt.Errorf("table %q of %q: %w", l.table, on.Name, err)
			}
			c.Sum = c.Sum.Add(sum)
			if err := divide.add(l, row, sum); err != nil {
				return c, err
			}
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
		if err := between(len(p.rows)); err != nil {
			return c, err
		}
		if p.last {
			if divide != nil {
				c.Ranges = divide.ranges()
			}
			return c, nil
		}
	}
}

// all is more rows than any table has.
const all = math.MaxInt64
