package stream

import (
	"context"
	"slices"
)

// Repeats says how many values occur more than once.
type Repeats struct {
	Values int64   // that are there more than once
	Rows   []int64 // that have them, of each stream; nil if nothing was read
	Inside int64   // of values, those that only one stream has
	Within int64   // of values, those that one stream has more than once

	Outside int64 // of rows, those that collisions.outside tells of
	Renamed int64 // values that do not count, since [Collisions.Names] tells their rows apart
}

// Collisions counts the runs of equal rows that a pass comes across, and keeps
// the first few to show.
type Collisions struct {
	Samples int // how many to keep

	// Wanted tells from the number of rows of each stream whether a run
	// counts; nil: every run does.
	Wanted func(rows []int64) bool

	// Ignore tells from any row of a run that it is none; nil: none is ignored. That is
	// about the value that the rows have in common.
	Ignore func(row Position) bool

	// Skip tells of a row that it is in no run, whatever the others of its value are; nil: none is skipped.
	Skip func(row Position) bool

	// Names tells, a bit for each, by which names a row is another one than equal rows of other streams of which it says
	// the same; nil: by none. A run that a name tells apart does not count.
	Names func(row Position) uint64

	// Each is told every row that has its value in common with another one, and whether it is the first; nil: nobody is.
	Each func(row Position, begins bool)

	// Outside tells of a row whether it is not to be in any run; nil: none is.
	Outside func(row Position) bool

	Repeats
	Kept []Conflict

	current Conflict
	rowsNow []int64 // of the current run, of each stream
	ignored bool    // the current run
	strays  int64   // rows of the current run that are outside
	names   uint64  // those that tell all rows of the current run apart, if each is of another stream
}

// shownPerStream is how many rows a sample shows of one world.
const shownPerStream = 2

// Count merges the streams and fills in c.
func (c *Collisions) Count(ctx context.Context, streams []*Stream) error {
	c.Rows, c.rowsNow = make([]int64, len(streams)), make([]int64, len(streams))
	columns := 0
	if len(streams) > 0 {
		columns = len(streams[0].Scan.Order)
	}
	err := MergeEqual(ctx, streams, columns, func(before, row Position, begins bool) error {
		if c.Each != nil {
			if begins {
				c.Each(before, true)
			}
			c.Each(row, false)
		}
		if begins {
			c.finish()
			c.ignored = c.Ignore != nil && c.Ignore(before)
			c.member(before)
		}
		c.ignored = c.ignored || c.Ignore != nil && c.Ignore(row)
		c.member(row)
		return nil
	})
	c.finish()
	return err
}

func (c *Collisions) member(p Position) {
	if c.Skip != nil && c.Skip(p) {
		return
	}
	i := p.Stream.Index
	if c.current.Rows == 0 {
		c.names = ^uint64(0)
	}
	if c.Names != nil {
		c.names &= c.Names(p)
	}
	c.current.Rows++
	c.rowsNow[i]++
	if c.Outside != nil && c.Outside(p) {
		c.strays++
	}
	if len(c.Kept) < c.Samples && c.rowsNow[i] <= shownPerStream {
		c.current.Members = append(c.current.Members, p.Stream.Member(p.Row))
	}
}

// finish takes the current run into account and makes room for the next.
func (c *Collisions) finish() {
	if c.current.Rows > 0 && !c.ignored {
		taken := c.take(c.rowsNow, c.current.Rows)
		if taken {
			c.Repeats.Outside += c.strays
		}
		if taken && len(c.Kept) < c.Samples {
			c.Kept = append(c.Kept, c.current)
			c.current.Members = nil
		}
	}
	c.current.Rows, c.current.Members, c.strays = 0, c.current.Members[:0], 0
	clear(c.rowsNow)
}

// take counts a run that has so many rows of each stream, and so many in all, if
// it is one that counts.
func (c *Collisions) take(rows []int64, all int64) bool {
	if c.Wanted != nil && !c.Wanted(rows) {
		return false
	}
	most := slices.Max(rows)
	if c.Names != nil && c.names != 0 && most == 1 {
		c.Renamed++
		return false
	}
	c.Values++
	for i, n := range rows {
		c.Rows[i] += n
	}
	if most == all {
		c.Inside++
	}
	if most > 1 {
		c.Within++
	}
	return true
}

// AllRows counts the rows that have the values.
func (r *Repeats) AllRows() (n int64) {
	for _, rows := range r.Rows {
		n += rows
	}
	return n
}
