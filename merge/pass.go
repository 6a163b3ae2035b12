package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// exclusions are sources that cannot take part in a pass, and why.
type exclusions map[*database]string

// retry repeats a pass without the sources that turn out, on the way, to be
// unable to sort and compare their rows, so that what is counted of the
// others is exact. pass returns the gaps that it left.
func (c *checker) retry(pass func(exclusions) ([]Gap, error)) ([]Gap, error) {
	excluded := make(exclusions)
	for {
		gaps, err := pass(excluded)
		var read *ReadError
		var unsupported *UnsupportedError
		if !errors.As(err, &read) || !errors.As(err, &unsupported) {
			return gaps, err
		}
		i := slices.IndexFunc(c.dbs, func(db *database) bool { return db.name == read.Source })
		if i < 0 || excluded[c.dbs[i]] != "" {
			return gaps, err
		}
		excluded[c.dbs[i]] = unsupported.Error()
	}
}

// question is what a pass over some columns of a table is to find out.
type question struct {
	code     string // of the rule that asks
	table    string
	columns  []string
	skipNull bool
	ids      bool // judge the IDs in the rows along the way
	account  *AccountColumn
	watch    func(rows []int64) // sees how many rows of each source a value has that is there twice; or nil
}

// reading is the answer to a question.
type reading struct {
	streams []*stream // of the sources that took part
	gaps    []Gap     // why the others did not
	scans   []*idScan
	found   *collisions
	shared  *accountCount
}

// read streams the columns of a table from all sources that have it, merges
// them, and counts the values that are there more than once.
func (c *checker) read(ctx context.Context, q question) (*reading, error) {
	if c.matrix != nil {
		return c.matrix.read(ctx, c, q)
	}
	r, _, err := c.readNow(ctx, q, nil)
	return r, err
}

// readNow is read, and also returns the sources that could not take part
// although they were to. views, if not nil, may add views for the streams.
func (c *checker) readNow(ctx context.Context, q question, views func(*reading) []view) (*reading, exclusions, error) {
	var r *reading
	var without exclusions
	_, err := c.retry(func(excluded exclusions) ([]Gap, error) {
		without = excluded
		r = new(reading)
		r.streams, r.gaps = c.keyStreams(q.code, q.table, q.columns, excluded)
		for _, s := range r.streams {
			s.scan.SkipNull = q.skipNull
		}
		if q.ids {
			r.scans = c.judgeIDs(q.table, r.streams)
			if c.opts.Samples > 0 && len(c.opaque(q.table)) > 0 {
				for _, s := range r.streams {
					s.visit = append(s.visit, c.sampler(s))
				}
			}
		}
		r.found, r.shared = c.counting(q)
		if q.account != nil {
			column := make([]int, len(r.streams))
			for i, s := range r.streams {
				column[i] = s.carry(q.account.Column)
			}
			r.found.ignore = func(p position) bool { return isZero(p.stream.carriedAt(column[p.stream.index], p.row)) }
		}
		if views != nil {
			r.found.views = views(r)
		}
		return nil, r.found.count(ctx, r.streams)
	})
	return r, without, err
}

// counting returns what counts the runs that a question is about.
func (c *checker) counting(q question) (*collisions, *accountCount) {
	found := &collisions{samples: c.opts.Samples}
	if q.watch != nil {
		found.wanted = func(rows []int64) bool { q.watch(rows); return true }
	}
	if q.account == nil {
		return found, nil
	}
	shared := &accountCount{max: int64(q.account.Max)}
	found.wanted = shared.wanted
	return found, shared
}

// keyStreams prepares to read the columns in every database that has them, in
// the order of the model, and says which have not.
func (c *checker) keyStreams(code, table string, columns []string, excluded exclusions) (streams []*stream, gaps []Gap) {
	owner, model := c.model(table)
	for _, db := range c.dbs {
		t := db.tables[table]
		if t == nil {
			continue // has no rows; schema-table reports it
		}
		reason := excluded[db]
		if reason == "" {
			reason = incomparable(t, columns, owner, model, columns)
		}
		if reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
			continue
		}
		carry := t.rowKey(columns)
		streams = append(streams, &stream{
			checker: c, db: db, code: code,
			scan:   Scan{Table: table, Order: order(columns, model), Carry: slices.Clip(carry)},
			names:  len(carry),
			strict: t.unique(columns, model),
		})
	}
	return streams, gaps
}

// incomparable says why values of some columns of one table cannot be held
// against those of the model, or returns "".
func incomparable(t *Table, columns []string, owner *database, model *Table, modelColumns []string) string {
	for i, name := range columns {
		col, want := t.column(name), model.column(modelColumns[i])
		switch {
		case col == nil:
			return "has no column " + name
		case want == nil:
			return owner.name + " has no column " + modelColumns[i]
		case !col.comparable(want):
			return fmt.Sprintf("column %s is %s, and %s in %s: the values cannot be compared", name, col.Type, want.Type, owner.name)
		}
	}
	return ""
}
