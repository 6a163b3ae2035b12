package stream

import (
	"sync"

	"mergesafe/merge/rules"
)

// Progress adds up how far the rows of every source are read.
type Progress struct {
	report func(rules.Progress) // nil: it is not wanted
	work   map[*rules.Database]*work
	tasks  map[string]int // that go through a table
	done   map[string]int // of these, the finished ones
	one    sync.Mutex     // of several worlds that are read side by side
}

// work counts the rows that the tasks go through in one world.
type work struct {
	now  int64            // by the current one
	told int64            // of all that are read, by the last report
	read map[string]int64 // the last rows of a stream, by rule and table

	again map[string]bool // tables of which it was said that they are read once more
}

func NewProgress(f *rules.Resolved) *Progress {
	p := &Progress{report: f.Opts.Progress, work: make(map[*rules.Database]*work), tasks: make(map[string]int), done: make(map[string]int)}
	for _, db := range f.DBs {
		p.work[db] = &work{read: make(map[string]int64), again: make(map[string]bool)}
	}
	return p
}

// Plan adds what a task will read that goes through some tables.
func (p *Progress) Plan(tables []string) {
	for _, table := range tables {
		p.tasks[table]++
	}
}

// Finish counts such a task as done, and reports it. It may have read less than planned: rows with
// NULL are left out, and for a reference the database gives only the rows that
// lead nowhere.
func (p *Progress) Finish(code string, tables []string) {
	for _, table := range tables {
		p.done[table]++
	}
	for db, w := range p.work {
		w.now = 0
		if at := rowsIn(db, p.done); p.report != nil && len(tables) > 0 && at > w.told { // the database read rows that it did not send
			w.told = at
			rows := w.read[code+" "+tables[0]]
			p.report(rules.Progress{Code: code, World: db.Name, Table: tables[0], Rows: rows, Total: max(db.About(tables[0]), rows), WorldRows: at, WorldTotal: rowsIn(db, p.tasks)})
		}
	}
}

// Again reports that a task reads the rows of a table once more, and why. It is said once of each table of a world.
func (p *Progress) Again(db *rules.Database, code, table, why string) {
	if p.report == nil {
		return
	}
	p.one.Lock()
	defer p.one.Unlock()
	if w := p.work[db]; !w.again[table] {
		w.again[table] = true
		p.report(rules.Progress{Code: code, World: db.Name, Table: table, WorldRows: w.told, WorldTotal: rowsIn(db, p.tasks), Again: why})
	}
}

// rowsIn is how many rows tasks go through in a world, as far as their numbers are known.
func rowsIn(db *rules.Database, tasks map[string]int) (n int64) {
	for table, times := range tasks {
		n += int64(times) * db.About(table)
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
		total := rowsIn(db, p.tasks)
		w.read[code+" "+s.Scan.Table], w.told = s.Read, min(rowsIn(db, p.done)+w.now, total)
		p.report(rules.Progress{
			Code: code, World: db.Name, Table: s.Scan.Table,
			Rows: s.Read, Total: max(db.About(s.Scan.Table), s.Read),
			WorldRows: w.told, WorldTotal: total,
		})
	}
}
