package world

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
const PageBytes = 8 << 20

type Page struct {
	Rows  [][]any
	bytes int
	Last  bool  // there are no rows after it
	Sum   Sum   // of all rows, if asked for
	after []any // the key from which on the next page is read
}

// ReadPage reads at most n rows, from after a key on; nil stands for the
// beginning. If there is a hasher, it sums them up. Unless it is the last, the page has at least one row.
func ReadPage(ctx context.Context, on *Connection, l *Layout, after []any, n int, h *Hasher) (*Page, error) {
	p := &Page{after: after}
	for len(p.Rows) == 0 && !p.Last {
		if err := p.read(ctx, on, l, n, h); err != nil {
			return nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
		}
	}
	return p, nil
}

// read reads rows from after p.after on, until it has read n, also of those that are left out.
func (p *Page) read(ctx context.Context, on *Connection, l *Layout, n int, h *Hasher) error {
	condition, out := on.sift(l)
	query, args := l.page(p.after, condition, n)
	limit := PageBytes / max(1, on.Share)
	p.Last = true
	var staying Hasher
	seen := 0
	var room []any // for the rows to come
	return on.Rows(ctx, query, !l.Lists(), args, func(row []any) (bool, error) {
		seen++
		if out != nil && out(row) {
			if on.Stayed != nil || seen == n {
				l.Tidy(row)
			}
			if on.Stayed != nil {
				if err := on.Stayed.add(&staying, row); err != nil {
					return false, err
				}
			}
			if seen == n {
				p.after, p.Last = l.KeyOf(row), false
			}
			return true, nil
		}
		if len(room) < len(row) {
			room = make([]any, len(row)*min(n-len(p.Rows), 500))
		}
		r := room[:len(row):len(row)]
		room = room[len(row):]
		copy(r, row)
		for i, k := range l.Key {
			if r[k] == nil {
				return false, &NullKeyError{l.Columns[k], l.numbering(i)}
			}
		}
		p.Rows = append(p.Rows, r)
		p.bytes += l.Tidy(r)
		if h != nil {
			sum, err := h.Row(r)
			if err != nil {
				return false, err
			}
			p.Sum = p.Sum.Add(sum)
		}
		full := p.bytes >= limit
		if full || seen == n {
			p.after, p.Last = l.KeyOf(r), false
		}
		return !full, nil
	})
}

// NullKeyError tells that a row of a table with a key has none. SQLite lets NULL into a key that is not declared NOT
// NULL, and NULL is neither before nor after another value.
type NullKeyError struct {
	column string
	enum   *numbering // nil for what is NULL in the database
}

func (e *NullKeyError) Error() string {
	if e.enum != nil {
		return fmt.Sprintf("a row has the number 0 in the column %q of its key: its value was not in the list of the ENUM when it was written; "+
			"find such rows with %s = 0, and give them a value of %q or remove them", e.column, e.column, e.enum.Members)
	}
	return fmt.Sprintf("a row has NULL in the column %q of its key, so it is not distinct from others; "+
		"find such rows with %s IS NULL, and give them a value or remove them", e.column, e.column)
}

// Tidy gives the values of a row their one form, and returns about how many
// bytes they take.
func (l *Layout) Tidy(row []any) int {
	size := 0
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			size += len(v)
			switch {
			case l.Text[i]:
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

// Pages reads a table page by page in the background, one page ahead, from
// after a key on, and no more rows than most. size says how many rows the next
// page should have. With summed, every page has its sum.
func Pages(ctx context.Context, on *Connection, l *Layout, after []any, size func() int, most int64, summed bool) (next func() (*Page, error), stop func()) {
	type answer struct {
		page *Page
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, 1)
	done := make(chan struct{})
	go func() {
		var h *Hasher
		if summed {
			h = new(Hasher)
		}
		defer close(done)
		defer close(answers)
		var seen circle
		for {
			p, err := ReadPage(ctx, on, l, after, int(min(int64(size()), most)), h)
			if err == nil {
				most -= int64(len(p.Rows))
				p.Last = p.Last || most == 0
				if !p.Last {
					if after = p.after; seen.closes(after) {
						err = fmt.Errorf("reading table %q of %q: after row %s come rows that were read before it: the database sorts the keys "+
							"in another order than it compares them in; exclude the table, or give it a key of other types",
							l.Table, on.Name, l.KeyText(p.Rows[len(p.Rows)-1]))
					}
				}
			}
			select {
			case answers <- answer{p, err}:
			case <-ctx.Done():
				return
			}
			if err != nil || p.Last {
				return
			}
		}
	}()
	next = func() (*Page, error) {
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
	if c.key != nil && slices.EqualFunc(c.key, key, Same) {
		return true
	}
	if c.pages++; c.pages > c.most {
		c.key, c.pages, c.most = key, 0, 2*c.most+1
	}
	return false
}

// Contents counts and sums up the rows of a table that come, in the order of the key if it has one. take, if not nil, is
// told each row with its sum, and may change the row. between is told how many rows were read since the last call.
func Contents(ctx context.Context, on *Connection, l *Layout, take func(row []any, sum Sum) error, between func(rows int) error) (Content, error) {
	var c Content
	var h Hasher
	add := func(row []any) error {
		sum, err := h.Row(row)
		if err != nil {
			return fmt.Errorf("table %q of %q: %w", l.Table, on.Name, err)
		}
		if c.Add(sum); take == nil {
			return nil
		}
		return take(row, sum)
	}
	if l.Multiset() {
		const often = 2000
		err := Every(ctx, on, l, func(row []any) error {
			if err := add(row); err != nil || c.Rows%often > 0 {
				return err
			}
			return between(often)
		})
		if err == nil {
			err = between(int(c.Rows % often))
		}
		return c, err
	}
	err := EachPage(ctx, on, l, func(p *Page) error {
		for _, row := range p.Rows {
			if err := add(row); err != nil {
				return err
			}
		}
		return between(len(p.Rows))
	})
	return c, err
}

// EachPage calls take with the pages of a table in the order of its key.
func EachPage(ctx context.Context, on *Connection, l *Layout, take func(p *Page) error) error {
	next, stop := Pages(ctx, on, l, nil, func() int { return 2000 }, All, false)
	defer stop()
	for {
		p, err := next()
		if err == nil {
			err = take(p)
		}
		if err != nil || p.Last {
			return err
		}
	}
}

// All is more rows than any table has.
const All = math.MaxInt64
