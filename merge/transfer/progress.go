package transfer

import "sync"

// The steps of a merge, as [Progress] names them.
const (
	StepCheck   = "check"   // the rules of package merge
	StepMeasure = "measure" // counting and summing up
	StepRename  = "rename"  // of the target's own rows
	StepReset   = "reset"   // of tables: their rows are removed, or put back
	StepCopy    = "copy"
	StepVerify  = "verify"
	StepCompare = "compare" // of the copied rows with the sources, before an undo
	StepUndo    = "undo"
	StepRestore = "restore" // of the target's own rows that were renamed
)

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
	step  string          // that makes the result: StepCopy or StepUndo
	parts map[place]int64 // rows of that step, by this call and earlier ones
	rows  int64           // rows that this call wrote or removed
}

// step begins a step of so many rows.
func (r *run) step(total int64) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.done, r.tally.total, r.tally.before = 0, total, 0
}

// resumed reports the rows that an earlier call did, before this one goes on with them. After
// a retry they would be those of this call too.
func (r *run) resumed(step, database, table string, rows int64) {
	r.tally.mu.Lock()
	if !r.noted {
		r.tally.before += rows
		r.noted = true
	}
	r.tally.mu.Unlock()
	r.progress(step, database, table, int(rows))
}

// progress reports that a step did more rows.
func (r *run) progress(step, database, table string, rows int) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.done += int64(rows)
	r.counted += int64(rows)
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{Step: step, Database: database, Table: table, Rows: r.tally.done, Total: r.tally.total, Before: r.tally.before})
	}
}

// retrying reports the error that causes a retry.
func (r *run) retrying(why error) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if r.opts.Retrying != nil {
		r.opts.Retrying(why)
	}
}

// reached takes a checkpoint into the result, and how many rows were written on
// the way to it.
func (r *run) reached(c *checkpoint, written int64) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if c.step == r.tally.step {
		r.tally.parts[c.place] = c.rows
		r.tally.rows += written
	}
}

// PartResult is how many rows of one source were copied to one table of the
// target, or removed from it.
type PartResult struct {
	Table, Source string
	Rows          int64
}

// partResults returns what was copied or removed, in the order of the plan, and the
// sum of it.
func (r *run) partResults() (all []PartResult, rows int64) {
	done := together(r.tally.parts)
	for _, t := range r.plan.Tables {
		for _, w := range r.plan.Sources {
			n := done[place{source: w.Name, table: t.Name}]
			all, rows = append(all, PartResult{t.Name, w.Name, n}), rows+n
		}
	}
	return all, rows
}
