package merge

import "sync"

// progress adds up how far the rows of every source are read.
type progress struct {
	report func(Progress) // nil: it is not wanted
	work   map[*database]*work
	one    sync.Mutex // of several sources that are read side by side
}

// work counts the rows that the tasks go through in one source.
type work struct {
	done  int64 // by the tasks that are finished
	now   int64 // by the current one
	total int64
}

func newProgress(f *resolved) *progress {
	p := &progress{report: f.opts.Progress, work: make(map[*database]*work)}
	for _, db := range f.dbs {
		p.work[db] = new(work)
	}
	return p
}

// plan adds what a task will read that goes through some tables.
func (p *progress) plan(tables []string) {
	for db, w := range p.work {
		w.total += db.rowsIn(tables)
	}
}

// finish counts such a task as done. It may have read less than planned: rows with
// NULL are left out, and for a reference the database gives only the rows that
// lead nowhere.
func (p *progress) finish(tables []string) {
	for db, w := range p.work {
		w.done += db.rowsIn(tables)
		w.now = 0
	}
}

func (db *database) rowsIn(tables []string) (n int64) {
	for _, table := range tables {
		n += db.rows[table]
	}
	return n
}

// of returns what a stream calls that is read for the rule with a code.
func (p *progress) of(s *stream, code string) func(rows int) {
	return func(rows int) {
		db, w := s.db, p.work[s.db]
		w.now += int64(rows)
		if p.report == nil {
			return
		}
		p.one.Lock()
		defer p.one.Unlock()
		p.report(Progress{
			Code: code, Source: db.name, Table: s.scan.Table,
			Rows: s.read, Total: max(db.rows[s.scan.Table], s.read),
			SourceRows: min(w.done+w.now, w.total), SourceTotal: w.total,
		})
	}
}
