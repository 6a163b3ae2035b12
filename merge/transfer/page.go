package transfer

import (
	"context"
	"fmt"
	"math"
	"slices"
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
	query, args := l.page(after, on.comes(l.table), n)
	limit := pageBytes / max(1, on.share)
	p := &page{last: true}
	var room []any // for the rows to come
	err := on.rows(ctx, query, !l.lists(), args, func(row []any) (bool, error) {
		if len(room) < len(row) {
			room = make([]any, len(row)*min(n-len(p.rows), 500))
		}
		r := room[:len(row):len(row)]
		room = room[len(row):]
		copy(r, row)
		for i, k := range l.key {
			if r[k] == nil {
				return false, &nullKeyError{l.columns[k], l.numbering(i)}
			}
		}
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

// nullKeyError tells that a row of a table with a key has none. SQLite lets NULL into a key that is not declared NOT
// NULL, and NULL is neither before nor after another value.
type nullKeyError struct {
	column string
	enum   *numbering // nil for what is NULL in the database
}

func (e *nullKeyError) Error() string {
	if e.enum != nil {
		return fmt.Sprintf("a row has the number 0 in the column %q of its key: its value was not in the list of the ENUM when it was written; "+
			"find such rows with %s = 0, and give them a value of %q or remove them", e.column, e.column, e.enum.members)
	}
	return fmt.Sprintf("a row has NULL in the column %q of its key, so it cannot be told from others; "+
		"find such rows with %s IS NULL, and give them a value or remove them", e.column, e.column)
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
		var seen circle
		for {
			p, err := readPage(ctx, on, l, after, int(min(int64(size()), most)), h)
			if err == nil {
				most -= int64(len(p.rows))
				p.last = p.last || most == 0
				if !p.last { // now: who gets the page may change its keys
					after = l.keyOf(p.rows[len(p.rows)-1])
					if seen.closes(after) {
						err = fmt.Errorf("reading table %q of %q: after row %s come rows that were read before it: the database sorts the keys "+
							"in another order than it compares them in; exclude the table, or give it a key of other types",
							l.table, on.Name, l.keyText(p.rows[len(p.rows)-1]))
					}
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

// circle notices that pages come again, by the keys of their last rows: it compares each with one, and takes a later
// one for that whenever twice as many pages have come.
type circle struct {
	key         []any
	pages, most int
}

func (c *circle) closes(key []any) bool {
	if c.key != nil && slices.EqualFunc(c.key, key, same) {
		return true
	}
	if c.pages++; c.pages > c.most {
		c.key, c.pages, c.most = key, 0, 2*c.most+1
	}
	return false
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
