package merge

import "context"

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

	values int64   // runs
	rows   []int64 // in them, of each stream
	inside int64   // runs that lie within one stream
	kept   []run

	current run
	rowsNow []int64 // of the current run, of each stream
	ignored bool    // the current run
}

// shownPerStream is how many rows a sample shows of one source.
const shownPerStream = 2

// count merges the streams and fills in c. It opens and closes them.
func (c *collisions) count(ctx context.Context, streams []*stream) error {
	c.rows, c.rowsNow = make([]int64, len(streams)), make([]int64, len(streams))
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
	if c.current.rows > 0 && !c.ignored && (c.wanted == nil || c.wanted(c.rowsNow)) {
		c.values++
		for i, n := range c.rowsNow {
			c.rows[i] += n
			if n == c.current.rows {
				c.inside++
			}
		}
		if len(c.kept) < c.samples {
			c.kept = append(c.kept, c.current)
			c.current.members = nil
		}
	}
	c.current.rows, c.current.members = 0, c.current.members[:0]
	clear(c.rowsNow)
}

// describe fills in what a result says of the collisions, where all that was
// read is in Read. noun is what collides.
func (c *collisions) describe(r *Result, noun string) {
	r.Count, r.Rows = c.values, c.allRows()
	if r.Count == 0 {
		r.Message = "none is there twice: " + some(r.Read, noun, noun+"s") + " read"
		return
	}
	r.Message = some(r.Count, noun+" is", noun+"s are") + " there more than once, in " + some(r.Rows, "row", "rows")
	if c.inside > 0 {
		r.Message += "; " + some(c.inside, "is", "are") + " within one database and equal only to the target's collation"
	}
}

func (c *collisions) allRows() (n int64) {
	for _, rows := range c.rows {
		n += rows
	}
	return n
}
