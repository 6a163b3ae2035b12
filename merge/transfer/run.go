package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/merge"
	"mergesafe/store"
)

// DefaultPatience is the default of [Options.Patience].
const DefaultPatience = 2 * time.Minute

// Options are what may be chosen about carrying a plan out. The zero value
// means the defaults.
type Options struct {
	// Patience is how long a database may be away, or its disk full, before
	// the work is broken off. Until then it is tried again and again. The
	// default is [DefaultPatience]; a negative value breaks off at once.
	Patience time.Duration

	// Batch is how long one transaction in the target should take: it decides
	// how many rows there are in one. The default is 400 ms.
	Batch time.Duration

	// Grace is how long a transaction that runs may go on when the context
	// ends. The default is 10 s.
	Grace time.Duration

	// Parallel is how many tables, or rows of how many sources of one, are
	// copied or removed at a time, each over connections of its own. The default
	// is [DefaultParallel]. SQLite has one writer at a time, whatever it says.
	Parallel int

	// Pause, if not nil, is called between transactions, and between pages
	// where only is read, and may wait to spare the databases. Its error breaks
	// the work off, resumable. Only one of Pause, Progress and Waiting is called
	// at a time, by one goroutine.
	Pause func(ctx context.Context) error

	// Progress, if not nil, is told how far the work has come.
	Progress func(Progress)

	// Waiting, if not nil, is told why a database is waited for.
	Waiting func(error)

	// Clock stamps the records. The default is [time.Now].
	Clock func() time.Time

	// For tests.
	trip trip
	mute bool // the database cannot return the rows that it deletes
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&o.Patience, DefaultPatience)
	set(&o.Batch, 400*time.Millisecond)
	set(&o.Grace, 10*time.Second)
	if o.Parallel == 0 {
		o.Parallel = DefaultParallel
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// run is one attempt to carry something out, or one worker of it: see
// [run.together].
type run struct {
	opts     Options
	plan     *Plan
	renames  *renamer
	target   *link
	sources  []*link
	manifest *manifest
	layouts  map[string]*layout
	registry bool // the target keeps one

	// references are those of the target's tables, by table.
	references map[string][]merge.Reference

	moved int64 // transactions that were committed, to see that it goes on

	tally *tally // shared by all workers
	told  int64  // rows that this one has told of in its part
}

// open takes the databases, in the order of the plan.
func (r *run) open(p *Plan, target Database, sources []Database) error {
	if err := p.validate(); err != nil {
		return err
	}
	r.plan, r.renames, r.layouts, r.tally = p, newRenamer(p), make(map[string]*layout), new(tally)
	if target.Name != p.Target.Name || len(sources) != len(p.Sources) {
		return fmt.Errorf("transfer: the plan is for %q and %d sources, got %q and %d", p.Target.Name, len(p.Sources), target.Name, len(sources))
	}
	r.target = &link{Database: target, writes: true, trip: r.opts.trip}
	r.manifest = &manifest{on: r.target, id: p.ID}
	for i, d := range sources {
		if d.Name != p.Sources[i].Name {
			return fmt.Errorf("transfer: the plan has %q where %q is given: want the databases in the order of the plan", p.Sources[i].Name, d.Name)
		}
		r.sources = append(r.sources, &link{Database: d, trip: r.opts.trip})
	}
	return nil
}

// know takes what the target says of its tables.
func (r *run) know(s *source) {
	r.registry = s.catalog.HasRegistry
	r.references = make(map[string][]merge.Reference)
	for i := range s.catalog.Tables {
		t := &s.catalog.Tables[i]
		r.references[t.Name] = t.References
		if r.plan.table(t.Name) != nil {
			r.layouts[t.Name] = newLayout(s.dialect, t)
		}
	}
}

// checkReferences makes sure that every row of the tables of the plan refers to
// something that is there. It is done once for all rows, when they are there:
// that costs a tenth of what the database takes for one row after the other, and
// lets tables refer to each other, or to themselves, whatever the order.
func (r *run) checkReferences(ctx context.Context) error {
	if slices.ContainsFunc(r.plan.Check.Allowed, func(a Refusal) bool { return a.Code == merge.CodeReferenceDangle }) {
		return nil // the operator knows of rows that do not
	}
	for i := range r.plan.Tables {
		table := r.plan.Tables[i].Name
		for _, ref := range r.references[table] {
			var n int64
			err := r.target.rows(ctx, r.target.dialect().dangling(table, ref), false, nil, func(row []any) (bool, error) {
				n, _ = row[0].(int64)
				return true, nil
			})
			if err != nil {
				return fmt.Errorf("looking where the rows of table %q refer to: %w", table, err)
			}
			if n > 0 {
				return fmt.Errorf("transfer: database %q: %d rows of table %q refer by %s to rows of %q that are not there: somebody wrote to the databases while the merge ran",
					r.target.Name, n, table, strings.Join(ref.Columns, ", "), ref.ToTable)
			}
		}
	}
	return nil
}

func (r *run) close() {
	if r.target != nil {
		r.target.close()
	}
	for _, l := range r.sources {
		l.close()
	}
}

// drop gives all connections up.
func (r *run) drop() {
	r.target.drop()
	for _, l := range r.sources {
		l.drop()
	}
}

// persist calls f until it returns nil or an error that waiting does not mend.
// Between the calls all connections are made anew, so f begins with a look at
// what is there. When ctx ends, or the databases stay away for too long, it
// returns a [*StoppedError].
func (r *run) persist(ctx context.Context, doing string, f func(ctx context.Context) error) error {
	soft, stop := r.soften(ctx)
	defer stop()
	const shortest, longest = 50 * time.Millisecond, 5 * time.Second
	wait, since, moved := shortest, time.Time{}, r.moved
	for {
		err := f(soft)
		if err == nil || errors.Is(err, ErrStopped) {
			return err
		}
		if ctx.Err() != nil {
			r.drop()
			return &StoppedError{Doing: doing, Cause: context.Cause(ctx)}
		}
		meaning := store.Translate(err)
		if !errors.Is(meaning, store.ErrUnavailable) && !errors.Is(meaning, store.ErrRetryable) {
			return err
		}
		r.drop()
		if r.moved > moved || since.IsZero() {
			wait, since, moved = shortest, time.Now(), r.moved
		}
		if time.Since(since) >= r.opts.Patience {
			return &StoppedError{Doing: doing, Cause: meaning}
		}
		r.waiting(err)
		select {
		case <-time.After(wait):
			wait = min(2*wait, longest)
		case <-ctx.Done():
		}
	}
}

// soften returns a context that ends some time after ctx, so that what runs
// can come to its end.
func (r *run) soften(ctx context.Context) (context.Context, func()) {
	soft, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(r.opts.Grace):
			cancel()
		case <-soft.Done():
		}
	})
	return soft, func() { stop(); cancel() }
}

// between is called between transactions: it ends the work when ctx has ended.
func (r *run) between(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if r.opts.Pause == nil {
		return nil
	}
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	if err := r.opts.Pause(ctx); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil {
		return &StoppedError{Doing: "pausing", Cause: err}
	}
	return nil
}

// pace decides how many rows a batch has, by how long the last one took.
type pace struct {
	rows chan int // one value: how many
	want time.Duration
}

const (
	fewestRows = 100
	mostRows   = 20_000
)

func newPace(want time.Duration) *pace {
	p := &pace{make(chan int, 1), want}
	p.rows <- 1000
	return p
}

func (p *pace) size() int {
	n := <-p.rows
	p.rows <- n
	return n
}

func (p *pace) took(rows int, d time.Duration) {
	n := <-p.rows
	switch {
	case d > 2*p.want:
		n = max(fewestRows, n/2)
	case d < p.want/2 && rows >= n/2:
		n = min(mostRows, 2*n)
	}
	p.rows <- n
}
