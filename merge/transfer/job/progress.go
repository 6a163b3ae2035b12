package job

import (
	"strings"
	"sync"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// Clocked reports whether a column of this type of MySQL may be set by every UPDATE that does not
// name it: ON UPDATE CURRENT_TIMESTAMP.
func Clocked(typ string) bool {
	typ = strings.ToLower(typ)
	return strings.HasPrefix(typ, "timestamp") || strings.HasPrefix(typ, "datetime")
}

// Progress is the state of the work.
type Progress struct {
	Step        string
	Database    string // whose rows are read
	Table       string
	Rows, Total int64 // of the step, over all tables and databases
	Before      int64 // of Rows, those that an earlier call did
}

// tally counts the rows of a run, over all workers. It is locked also while a
// function of [Options] is called.
type tally struct {
	mu          sync.Mutex
	done, total int64 // of the current step
	before      int64 // of done, by earlier calls

	// For the result of the run.
	step  string                 // that makes the result: StepCopy or StepUndo
	parts map[ledger.Place]int64 // rows of that step, by this call and earlier ones
	Rows  int64                  // rows that this call wrote or removed
}

// Step begins a step of so many rows.
func (r *Run) Step(total int64) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.done, r.Tally.total, r.Tally.before = 0, total, 0
}

// Resumed reports the rows that an earlier call did, before this one continues. After
// a retry they would be those of this call too.
func (r *Run) Resumed(step, database, table string, rows int64) {
	r.Tally.mu.Lock()
	if !r.noted {
		r.Tally.before += rows
		r.noted = true
	}
	r.Tally.mu.Unlock()
	r.Progress(step, database, table, int(rows))
}

// Progress reports that a step did more rows.
func (r *Run) Progress(step, database, table string, rows int) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.done += int64(rows)
	r.counted += int64(rows)
	if step == ledger.StepOwn { // for who looks on, the rows of all worlds are copied alike
		step = ledger.StepCopy
	}
	if r.Opts.Progress != nil {
		r.Opts.Progress(Progress{Step: step, Database: database, Table: table, Rows: r.Tally.done, Total: r.Tally.total, Before: r.Tally.before})
	}
}

// Beside reports a step that goes on beside the current one, or after it, and how far that is. With 0 rows it begins.
func (r *Run) Beside(step, database, table string, rows, total int64) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	if r.Opts.Progress != nil {
		r.Opts.Progress(Progress{Step: step, Database: database, Table: table, Rows: rows, Total: total})
	}
}

// retrying reports the error that causes a retry.
func (r *Run) retrying(why error) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	if r.Opts.Retrying != nil {
		r.Opts.Retrying(why)
	}
}

// Reached takes a checkpoint into the result, and how many rows were written on
// the way to it.
func (r *Run) Reached(c *ledger.Checkpoint, written int64) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	if c.Step == r.Tally.step {
		r.Tally.parts[c.Place] = c.Rows
		r.Tally.Rows += written
	}
}

// PartResult is how many rows of one source were copied to one table of the
// target, or removed from it.
type PartResult struct {
	Table, Source string
	Rows          int64
}

// PartResults returns what was copied or removed, in the order of the plan, and the
// sum of it.
func (r *Run) PartResults() (all []PartResult, rows int64) {
	done := ledger.Together(r.Tally.parts)
	for _, t := range r.Plan.Tables {
		for _, w := range r.Plan.Sources {
			n := done[ledger.Place{Source: w.Name, Table: t.Name}]
			all, rows = append(all, PartResult{t.Name, w.Name, n}), rows+n
		}
	}
	return all, rows
}

// ResetLayout is how a table that is emptied is read: without regard to its key.
func ResetLayout(d rowio.Dialect, t *catalog.Table) *rowio.Layout {
	l := rowio.NewLayout(d, t)
	l.Key = nil
	return l
}

// Lifted is a server whose fence was lifted.
type Lifted struct {
	Database string `json:"database"`
	Server   string `json:"server"`
}
