package stream

import (
	"sync"

	"mergesafe/merge/rules"
)

// Progress adds up how far the rows of every source are read.
type Progress struct {
	report func(rules.Progress) // nil: it is not wanted
	work   map[*rules.Database]*work
	one    sync.Mutex // of several worlds that are read side by side
}

// work counts the rows that the tasks go through in one world.
type work struct {
	done  int64 // by the tasks that are finished
	now   int64 // by the current one
	total int64
	told  int64            // of done and now, by the last report
	read  map[string]int64 // the last rows of a stream, by rule and table
}

func NewProgress(f *rules.Resolved) *Progress {
	p := &Progress{report: f.Opts.Progress, work: make(map[*rules.Database]*work)}
	for _, db := range f.DBs {
		p.work[db] = &work{read: make(map[string]int64)}
	}
	return p
}

// Plan adds what a task will read that goes through some tables.
func (p *Progress) Plan(tables []string) {
	for db, w := range p.work {
		w.total += rowsIn(db, tables)
	}
}

// Finish counts such a task as done, and reports it. It may have read less than planned: rows with
// NULL are left out, and for a reference the database gives only the rows that
// lead nowhere.
func (p *Progress) Finish(code string, tables []string) {
	for db, w := range p.work {
		w.done += rowsIn(db, tables)
		w.now = 0
		if at := min(w.done, w.total); p.report != nil && at > w.told { // the database read rows that it did not send
			w.told = at
			rows := w.read[code+" "+tables[0]]
			p.report(rules.Progress{Code: code, World: db.Name, Table: tables[0], Rows: rows, Total: max(db.Rows[tables[0]], rows), WorldRows: at, WorldTotal: w.total})
		}
	}
}

func rowsIn(db *rules.Database, tables []string) (n int64) {
	for _, table := range tables {
		n += db.Rows[table]
	}
	return n
}

// Of returns what a stream calls that is read for the rule with a code.
func (p *Progress) Of(s *Stream, code string) func(rows int) {
	return func(rows int) {
		db, w := s.DB, p.work[s.DB]
		w.now += int64(rows)
		if p.report == nil {
			return
		}
		p.one.Lock()
		defer p.one.Unlock()
		w.read[code+" "+s.Scan.Table], w.told = s.Read, min(w.done+w.now, w.total)
		p.report(rules.Progress{
			Code: code, World: db.Name, Table: s.Scan.Table,
			Rows: s.Read, Total: max(db.Rows[s.Scan.Table], s.Read),
			WorldRows: min(w.done+w.now, w.total), WorldTotal: w.total,
		})
	}
}
