package merge

import (
	"context"
	"slices"
)

// task is one pass over rows: what reads a table once in every source that has
// it.
type task struct {
	name   string   // tells it from all others
	tables []string // that it goes through
	run    func(ctx context.Context) error
}

// work counts the rows that the tasks go through in one source.
type work struct {
	done  int64 // by the tasks that are finished
	now   int64 // by the current one
	total int64
}

// plan adds a task to those that are to be done.
func (c *checker) plan(t task) {
	c.tasks = append(c.tasks, t)
	if c.matrix != nil {
		return // it is done once for all pairs
	}
	for _, db := range c.dbs {
		db.work.total += db.workOf(t)
	}
}

func (db *database) workOf(t task) (n int64) {
	for _, table := range t.tables {
		n += db.rows[table]
	}
	return n
}

// finish takes a task for done. It may have read less than planned: rows with
// NULL are left out, and for a reference the database gives only the rows
// that lead nowhere.
func (c *checker) finish(t task) {
	for _, db := range c.dbs {
		db.work.done += db.workOf(t)
		db.work.now = 0
	}
}

// progress tells how far a stream has come that has just read n rows more.
func (c *checker) progress(s *stream, n int) {
	db := s.db
	db.work.now += int64(n)
	if c.opts.Progress == nil {
		return
	}
	c.opts.Progress(Progress{
		Code: s.code, Source: db.name, Table: s.scan.Table,
		Rows: s.read, Total: max(db.rows[s.scan.Table], s.read),
		SourceRows: min(db.work.done+db.work.now, db.work.total), SourceTotal: db.work.total,
	})
}

// countRows counts the rows of every table, and asks for the ends of its key
// where the source can tell them.
func (c *checker) countRows(ctx context.Context) error {
	for _, table := range c.tables {
		if len(c.opts.Only) > 0 && !slices.ContainsFunc(c.opts.Only, func(s Selection) bool { return s.Table == "" || s.Table == table }) {
			continue
		}
		for _, db := range c.dbs {
			if db.tables[table] == nil {
				continue
			}
			fail := func(err error) error {
				return &ReadError{Source: db.name, Table: table, Doing: "the number of rows", Err: err}
			}
			if err := ctx.Err(); err != nil {
				return fail(err)
			}
			n, err := db.Count(ctx, table)
			if ctxErr := ctx.Err(); ctxErr != nil {
				err = ctxErr
			}
			if err != nil {
				return fail(err)
			}
			db.rows[table] = n
			if err := c.readEnds(ctx, db, table); err != nil {
				return err
			}
		}
	}
	return nil
}
