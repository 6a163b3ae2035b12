package merge

import (
	"context"

	"mergesafe/internal/printable"
)

// collisions counts the runs of equal rows that a pass comes across, and keeps
// the first few to show.
type collisions struct {
	samples int // how many to keep

	// wanted tells from the number of rows of each stream whether a run
	// counts; nil: every run does.
	wanted func(rows []int64) bool

	// ignore tells from the first row of a run that it is none; nil: none is
	// ignored.
	ignore func(first position) bool

	// views count the same runs as they are to some of the streams alone.
	views []view

	values int64   // runs
	rows   []int64 // in them, of each stream
	inside int64   // runs that lie within one stream
	kept   []run

	current run
	rowsNow []int64 // of the current run, of each stream
	ignored bool    // the current run
}

// view is what a pass is to some of its streams. What it counts is the same as
// if these had been read without the others.
type view struct {
	streams []int
	found   *collisions
	rows    []int64
}

// shownPerStream is how many rows a sample shows of one source.
const shownPerStream = 2

// count merges the streams and fills in c. It opens and closes them.
func (c *collisions) count(ctx context.Context, streams []*stream) error {
	c.rows, c.rowsNow = make([]int64, len(streams)), make([]int64, len(streams))
	for _, v := range c.views {
		v.found.rows = make([]int64, len(v.streams))
	}
	defer func() {
		for _, s := range streams {
			s.close()
		}
	}()
	for i, s := range streams {
		s.index = i
		if s.stop != nil {
			continue // open already
		}
		if err := s.open(ctx); err != nil {
			return err
		}
	}
	err := runEqual(ctx, streams, func(before, row position, begins bool) {
		if begins {
			c.finish()
			c.ignored = c.ignore != nil && c.ignore(before)
			c.member(before)
		}
		c.member(row)
	})
	c.finish()
	return err
}

func (c *collisions) member(p position) {
	i := p.stream.index
	c.current.rows++
	c.rowsNow[i]++
	if len(c.kept) < c.samples && c.rowsNow[i] <= shownPerStream {
		c.current.members = append(c.current.members, p.stream.member(p.row))
	}
}

// finish takes the current run into account and makes room for the next.
func (c *collisions) finish() {
	if c.current.rows > 0 && !c.ignored {
		for i := range c.views {
			c.views[i].take(c.rowsNow)
		}
		if c.take(c.rowsNow, c.current.rows) && len(c.kept) < c.samples {
			c.kept = append(c.kept, c.current)
			c.current.members = nil
		}
	}
	c.current.rows, c.current.members = 0, c.current.members[:0]
	clear(c.rowsNow)
}

// take counts a run that has so many rows of each stream, and so many in all, if
// it is one that counts.
func (c *collisions) take(rows []int64, all int64) bool {
	if c.wanted != nil && !c.wanted(rows) {
		return false
	}
	c.values++
	for i, n := range rows {
		c.rows[i] += n
		if n == all {
			c.inside++
		}
	}
	return true
}

// take counts a run if it is one to the streams of the view, too.
func (v *view) take(rows []int64) {
	v.rows = v.rows[:0]
	var all int64
	for _, i := range v.streams {
		v.rows = append(v.rows, rows[i])
		all += rows[i]
	}
	if all > 1 {
		v.found.take(v.rows, all)
	}
}

// describe fills in what a result says of the collisions, where all that was
// read is in Read. noun is what collides. enforced tells that each database
// keeps its own apart, as it compares.
func (c *collisions) describe(r *Result, noun string, enforced bool) {
	r.Count, r.Rows = c.values, c.allRows()
	if r.Count == 0 {
		r.Message = "none is there twice: " + printable.Count(r.Read, noun, noun+"s") + " read"
		return
	}
	r.Message = printable.Count(r.Count, noun+" is", noun+"s are") + " there more than once, in " + printable.Count(r.Rows, "row", "rows")
	if c.inside > 0 {
		r.Message += "; " + printable.Count(c.inside, "is", "are") + " within one database"
		if enforced {
			r.Message += " and equal only to the target's collation"
		}
	}
}

func (c *collisions) allRows() (n int64) {
	for _, rows := range c.rows {
		n += rows
	}
	return n
}
