package job

import (
	"cmp"
	"context"
	"time"

	"mergesafe/merge/keys"
	"mergesafe/merge/world"
)

// DefaultRetryFor is the default of [Options.RetryFor].
const DefaultRetryFor = 2 * time.Minute

// Options configures [build.Apply], [build.Undo] and [prove.Verify]. The zero value means the
// defaults.
type Options struct {
	// RetryFor is how long the work retries while a database cannot be reached, or its
	// disk is full, before it stops with a [*record.StoppedError]. The default is
	// [DefaultRetryFor]; with a negative value nothing is retried.
	RetryFor time.Duration

	// Grace is how long a running transaction may take to end after the context
	// has ended. The default is 10 s.
	Grace time.Duration

	// Parallel is the number of workers, each with its own connections. A worker
	// copies or removes the rows of one source in one table at a time, or of one
	// [world.Range] of them. The default is [DefaultParallel]. SQLite allows one writer at a time, so
	// there only reading is parallel.
	Parallel int

	// Pause, if not nil, is called between transactions, and between pages in
	// the steps that only read. It may wait to spare the databases. Its error
	// stops the work, resumable. Pause, Progress and Retrying are called one at
	// a time, by one goroutine at a time.
	Pause func(ctx context.Context) error

	// Try makes [build.Apply] a rehearsal: it makes the new database from worlds that may still run, and
	// writes no fence. Rows that were changed since the plan are counted and do not stop it. What it made can
	// never be opened; [build.Undo] drops it.
	Try bool

	// Elsewhere, if not nil, is asked by [build.Apply] before the first write: see [planner.PlanOptions].
	Elsewhere func(ctx context.Context, d world.Database) (why string, err error)

	// Codecs are the codecs of the game's own that the plan names: all of [plan.Plan.Codecs].
	Codecs keys.Codecs

	// Progress, if not nil, is called with the state of the work.
	Progress func(Progress)

	// Retrying, if not nil, is called before each retry with the error that causes it.
	Retrying func(error)
}

func (o Options) withDefaults() Options {
	o.RetryFor = cmp.Or(o.RetryFor, DefaultRetryFor)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	o.Parallel = cmp.Or(o.Parallel, DefaultParallel)
	return o
}

// Hooks is what only tests choose. The zero value means the defaults.
type Hooks struct {
	Clock func() time.Time // stamps the records
	Batch time.Duration    // how long one transaction should take: decides how many rows it has
	Fail  world.Failpoint
	Blind bool // takes the matched keys of the plan as they are
}

func (h Hooks) withDefaults() Hooks {
	if h.Clock == nil {
		h.Clock = time.Now
	}
	h.Batch = cmp.Or(h.Batch, 400*time.Millisecond)
	return h
}
