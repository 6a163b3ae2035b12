package job

import (
	"strings"
	"sync"

	"mergesafe/merge/record"
)

// clocked reports whether a column of this type of MySQL may be set by every UPDATE that does not
// name it: ON UPDATE CURRENT_TIMESTAMP.
func clocked(typ string) bool {
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
	parts map[record.Place]int64 // rows that are there, by this call and earlier ones
	Rows  int64                  // rows that this call wrote
}

// Step begins a step of so many rows.
func (r *Run) Step(total int64) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.done, r.Tally.total, r.Tally.before = 0, total, 0
}

// Filled notes a place that an earlier call filled.
func (r *Run) Filled(c *record.Checkpoint) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.done, r.Tally.before = r.Tally.done+c.Rows, r.Tally.before+c.Rows
	r.Tally.parts[c.Place] = c.Rows
}

// Progress reports that a step did more rows.
func (r *Run) Progress(step, database, table string, rows int) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.done += int64(rows)
	r.counted += int64(rows)
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
func (r *Run) Reached(c *record.Checkpoint, written int64) {
	r.Tally.mu.Lock()
	defer r.Tally.mu.Unlock()
	r.Tally.parts[c.Place] = c.Rows
	r.Tally.Rows += written
}

// PartResult is how many rows of one world were copied to one table.
type PartResult struct {
	Table, World string
	Rows         int64
}

// PartResults returns what was copied, in the order of the plan, and the sum of it.
func (r *Run) PartResults() (all []PartResult, rows int64) {
	done := make(map[record.Place]int64)
	for at, n := range r.Tally.parts {
		done[record.Place{World: at.World, Table: at.Table}] += n
	}
	for _, t := range r.Plan.Tables {
		for _, w := range r.Plan.Worlds {
			n := done[record.Place{World: w.Name, Table: t.Name}]
			all, rows = append(all, PartResult{t.Name, w.Name, n}), rows+n
		}
	}
	return all, rows
}

// Lifted is a server whose fence was lifted.
type Lifted struct {
	Database string `json:"database"`
	Server   string `json:"server"`
}
