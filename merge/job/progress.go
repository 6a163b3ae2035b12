package job

import (
	"cmp"
	"slices"
	"sync"

	"mergesafe/merge/plan"
	"mergesafe/merge/record"
)

// Progress is the state of the work.
type Progress struct {
	Step        string
	Database    string // whose rows are read
	Table       string
	Rows, Total int64 // of the step, over all tables and databases
	Before      int64 // of Rows, those that an earlier call did

	Again string // if not empty, why rows are read once more: what was to be kept of them takes too much memory
}

// Tally counts the rows of a run, over all workers, and reports how far the work is. It is locked also while a function
// of [Options] is called.
type Tally struct {
	progress func(Progress) // nil: nobody asks
	retrying func(error)    // nil: nobody asks

	mu          sync.Mutex
	done, total int64 // of the current step
	before      int64 // of done, by earlier calls

	// For the result of the run.
	parts   map[record.Place]int64 // rows that are there, by this call and earlier ones
	written int64                  // rows that this call wrote
	changed []Changed
}

// Step begins a step of so many rows.
func (t *Tally) Step(total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.total, t.before = 0, total, 0
}

// Filled notes a place that an earlier call filled.
func (t *Tally) Filled(c *record.Checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.before = t.done+c.Rows, t.before+c.Rows
	t.parts[c.Place] = c.Rows
}

// did reports that a step did more rows, or took some back.
func (t *Tally) did(step, database, table string, rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += rows
	if t.progress != nil {
		t.progress(Progress{Step: step, Database: database, Table: table, Rows: t.done, Total: t.total, Before: t.before})
	}
}

// takeBack takes rows back that a failed attempt did.
func (t *Tally) takeBack(rows int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done -= rows
}

// Beside reports a step that goes on beside the current one, or after it, and how far that is. With 0 rows it begins.
func (t *Tally) Beside(now Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress != nil {
		t.progress(now)
	}
}

// Again reports that the current step reads the rows of a table once more, and why.
func (t *Tally) Again(step, database, table, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress != nil {
		t.progress(Progress{Step: step, Database: database, Table: table, Rows: t.done, Total: t.total, Before: t.before, Again: why})
	}
}

// retry reports the error that causes a retry.
func (t *Tally) retry(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.retrying != nil {
		t.retrying(why)
	}
}

// reached takes a checkpoint into the result, and how many rows were written on the way to it.
func (t *Tally) reached(c *record.Checkpoint, written int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts[c.Place] = c.Rows
	t.written += written
}

// Changed is a table of a world that a rehearsal found with other rows than the plan did: another number of them, or
// other values.
type Changed struct {
	World string `json:"world"`
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // now, and
	Want  int64  `json:"want"` // when the plan was made
}

// noteChanged notes that a table of a world has other rows than planned.
func (t *Tally) noteChanged(c Changed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed = append(t.changed, c)
}

// PartResult is how many rows of one world were copied to one table.
type PartResult struct {
	Table, World string
	Rows         int64
}

// Result is what was done by a plan: the parts in its order with the sum of their rows, how many of these this call wrote,
// and what changed, in the order of its worlds and then by table.
func (t *Tally) Result(p *plan.Plan) (all []PartResult, rows, written int64, changed []Changed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := make(map[record.Place]int64)
	for at, n := range t.parts {
		done[record.Place{World: at.World, Table: at.Table}] += n
	}
	for _, table := range p.Tables {
		for _, w := range p.Worlds {
			n := done[record.Place{World: w.Name, Table: table.Name}]
			all, rows = append(all, PartResult{table.Name, w.Name, n}), rows+n
		}
	}
	return all, rows, t.written, slices.SortedFunc(slices.Values(t.changed), func(a, b Changed) int {
		return cmp.Or(p.World(a.World)-p.World(b.World), cmp.Compare(a.Table, b.Table))
	})
}
