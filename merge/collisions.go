package merge

import "context"

// repeats says how many values occur more than once.
type repeats struct {
	values int64   // that are there more than once
	rows   []int64 // that have them, of each stream; nil if nothing was read
	inside int64   // of values, those that only one stream has
	within int64   // of values, those that one stream has more than once

	outside int64 // of rows, those that collisions.outside tells of
}

// collisions counts the runs of equal rows that a pass comes across, and keeps
// the first few to show.
type collisions struct {
	samples int // how many to keep

	// wanted tells from the number of rows of each stream whether a run
	// counts; nil: every run does.
	wanted func(rows []int64) bool

	// ignore tells from any row of a run that it is none; nil: none is ignored.
	ignore func(row position) bool

	// outside tells of a row whether it is not to be in any run; nil: none is.
	outside func(row position) bool

	// views count the same runs as they are to some of the streams alone.
	views []view

	repeats
	kept []conflict

	current conflict
	rowsNow []int64 // of the current run, of each stream
	ignored bool    // the current run
	strays  int64   // rows of the current run that are outside
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

// count merges the streams and fills in c.
func (c *collisions) count(ctx context.Context, streams []*stream) error {
	c.rows, c.rowsNow = make([]int64, len(streams)), make([]int64, len(streams))
	for _, v := range c.views {
		v.found.rows = make([]int64, len(v.streams))
	}
	columns := 0
	if len(streams) > 0 {
		columns = len(streams[0].scan.Order)
	}
	err := mergeEqual(ctx, streams, columns, func(before, row position, begins bool) error {
		if begins {
			c.finish()
			c.ignored = c.ignore != nil && c.ignore(before)
			c.member(before)
		}
		c.ignored = c.ignored || c.ignore != nil && c.ignore(row)
		c.member(row)
		return nil
	})
	c.finish()
	return err
}

func (c *collisions) member(p position) {
	i := p.stream.index
	c.current.rows++
	c.rowsNow[i]++
	if c.outside != nil && c.outside(p) {
		c.strays++
	}
	if len(c.kept) < c.samples && c.rowsNow[i] <= shownPerStream {
		c.current.members = append(c.current.members, p.stream.member(p.row))
	}
}

// finish takes the current run into account and makes room for the next.
func (c *collisions) finish() {
	if c.current.rows > 0 && !c.ignored {
		for i := range c.views {
			c.views[i].take(c.rowsNow, c.strays)
		}
		taken := c.take(c.rowsNow, c.current.rows)
		if taken {
			c.repeats.outside += c.strays
		}
		if taken && len(c.kept) < c.samples {
			c.kept = append(c.kept, c.current)
			c.current.members = nil
		}
	}
	c.current.rows, c.current.members, c.strays = 0, c.current.members[:0], 0
	clear(c.rowsNow)
}

// take counts a run that has so many rows of each stream, and so many in all, if
// it is one that counts.
func (c *collisions) take(rows []int64, all int64) bool {
	if c.wanted != nil && !c.wanted(rows) {
		return false
	}
	c.values++
	var most int64
	for i, n := range rows {
		c.rows[i] += n
		most = max(most, n)
	}
	if most == all {
		c.inside++
	}
	if most > 1 {
		c.within++
	}
	return true
}

// take counts a run if it is one to the streams of the view, too. Rows that are outside may
// be of other streams: they count nevertheless.
func (v *view) take(rows []int64, strays int64) {
	v.rows = v.rows[:0]
	var all int64
	for _, i := range v.streams {
		v.rows = append(v.rows, rows[i])
		all += rows[i]
	}
	if all > 1 && v.found.take(v.rows, all) {
		v.found.repeats.outside += strays
	}
}

// allRows counts the rows that have the values.
func (r *repeats) allRows() (n int64) {
	for _, rows := range r.rows {
		n += rows
	}
	return n
}
