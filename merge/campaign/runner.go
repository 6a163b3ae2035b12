package campaign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mergesafe/internal/printable"

	"mergesafe/merge"
)

// What a command of a campaign does, as [Status.Doing] says it.
const (
	doingPlan   = "plan"
	doingApply  = "apply"
	doingTry    = "try" // apply -try
	doingVerify = "verify"
	doingUndo   = "undo"
)

// runner is one command that works on a campaign. It holds the lock.
type runner struct {
	book   *Book
	opts   Options
	limits limits
	doing  string
	lost   bool                    // see [Status]
	stop   context.CancelCauseFunc // ends all work, resumable

	ended chan struct{}  // closed when the work has ended
	rest  sync.WaitGroup // what goes along with the work

	mu      sync.Mutex
	paused  chan struct{}      // closed when the pause ends; nil if there is none
	working map[string]*worker // by merge

	givenUp atomic.Bool // the state cannot be written
}

// worker is what the runner knows of a merge that is worked on.
type worker struct {
	meter meter
	skip  context.CancelCauseFunc
}

// errSkipped is the cause of a merge that stops because the operator left it out.
var errSkipped = errors.New("skipped by the operator")

// job is a merge with what is needed to carry it out.
type job struct {
	Merge
	databases []merge.Database // of the worlds
	into      merge.Database   // the new one
	to, was   string           // the addresses of the new database and of the first world's; see into.go
	servers   []string         // where they are
	named     bool             // on the command line

	plan    *merge.Plan // of a merge that is made ready, with the options to begin it
	options merge.Options

	fenced bool // its worlds may be
	tries  int
	notYet time.Time     // it is not begun before; zero: at once
	atMost time.Duration // that it takes, predicted
	used   bool          // it had failed or was completed before this command: a game may have used the new database since
}

// command is the command that runs, as [Options.Command] calls it.
func (r *runner) command() string {
	if r.doing == doingTry {
		return "apply -try"
	}
	return r.doing
}

// applies is the command that makes new databases: a rehearsal during a rehearsal.
func (r *runner) applies() string {
	if r.doing == doingTry {
		return r.command()
	}
	return doingApply
}

// run takes the lock, has do work on the campaign, and returns how the campaign is then. A
// context that ends is a [merge.ErrStopped].
func run(
	ctx context.Context, b *Book, doing string, o Options, do func(ctx context.Context, r *runner, jobs []*job) error,
) (*Status, error) {
	o = o.withDefaults()
	jobs, err := jobsOf(ctx, b, doing, o)
	if err != nil {
		return nil, err
	}
	taken, err := take(ctx, b.lockPath())
	if err != nil {
		if errors.Is(err, errTaken) {
			err = b.heldBy(ctx)
		}
		return nil, err
	}
	defer taken.Close()

	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &runner{
		book: b, opts: o, limits: limitsOf(b.campaign, doing), doing: doing, stop: stop,
		ended: make(chan struct{}), working: make(map[string]*worker),
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if r.lost {
		r.opts.Warn("the state of the campaign was lost, including which merges were skipped or undone: the next apply carries these out too, unless you skip them again: " + r.opts.Command("skip", "WORLD"))
	}
	r.rest.Go(func() { r.watch(context.WithoutCancel(ctx)) })
	r.rest.Go(func() { r.notify(ctx) })
	err = do(work, r, jobs)
	if work.Err() != nil && err == nil {
		err = &merge.StoppedError{Doing: doing + " of the campaign", Cause: context.Cause(work)}
	}
	r.end(err)
	close(r.ended)
	r.rest.Wait()
	status, statusErr := b.Status(context.WithoutCancel(ctx))
	if err == nil {
		err = statusErr
	}
	if status != nil {
		status.Doing = ""
	}
	return status, err
}

// heldBy is the error of a lock that another process has.
func (b *Book) heldBy(ctx context.Context) error {
	e := &HeldError{Campaign: b.file}
	_ = b.look(ctx, func(ctx context.Context, s state) error { // the lock tells enough
		g, err := s.general(ctx)
		e.Holder = g.Holder
		return err
	})
	return e
}

// jobsOf are the merges that a command is about, in the order of the file.
func jobsOf(ctx context.Context, b *Book, doing string, o Options) (all []*job, err error) {
	for _, name := range o.Merges {
		if _, err := b.merge(name); err != nil {
			return nil, err
		}
	}
	for _, m := range b.campaign.Merges {
		j := &job{Merge: m, named: slices.Contains(o.Merges, m.Name())}
		if len(o.Merges) > 0 && !j.named {
			continue
		}
		if j.databases, err = o.databasesOf(m.Worlds); err != nil {
			return nil, err
		}
		if err := b.findInto(ctx, j, doing); err != nil {
			return nil, err
		}
		for _, d := range append(slices.Clone(j.databases), j.into) {
			if server := serverOf(d); !slices.Contains(j.servers, server) {
				j.servers = append(j.servers, server)
			}
		}
		all = append(all, j)
	}
	return all, newOnes(b.file, all)
}

// begin records that the command works on the campaign.
func (r *runner) begin(ctx context.Context) error {
	now := r.book.now().UTC()
	return r.book.change(ctx, func(ctx context.Context, s state) error {
		known, err := s.records(ctx)
		if err != nil {
			return err
		}
		if err := r.book.fits(known); err != nil {
			return err
		}
		_, killed, err := s.lastEvent(ctx)
		if err != nil {
			return err
		}
		if err := s.setGeneral(ctx, func(g *general) {
			g.clock(killed, false) // unless the last command ended
			g.Holder, g.Waits, g.Ended = self(r.doing, now), "", nil
			g.clock(now, g.works())
			r.setPaused(g.Paused)
			r.lost = g.Lost
			if g.Began == nil && r.doing == doingApply {
				g.Began = &now
			}
		}); err != nil {
			return err
		}
		for _, m := range r.book.campaign.Merges {
			if err := s.set(ctx, m, func(rec *record) {
				rec.idle()
				if rec.Undo == UndidNothing && rec.Phase == Verified { // which was about that undo, and not about the merge
					rec.Problem, rec.Advice, rec.Incomplete = "", nil, false
				}
				rec.Skip, rec.Undo = false, ""
			}); err != nil {
				return err
			}
		}
		return s.event(ctx, now, KindBegan, "", r.doing+" began")
	})
}

// fits returns an error if the file no longer has a merge that has begun.
func (b *Book) fits(known map[string]*record) error {
	for _, k := range b.missing(known) {
		return &unfitError{fmt.Sprintf("%s: the merge of %s has begun, but the file has another one, or none, with that first world: restore its entry, and undo the merge before you change it", b.file, printable.Names(k.Worlds))}
	}
	return nil
}

// missing are the merges that have begun and that the file no longer has.
func (b *Book) missing(known map[string]*record) (all []MergeStatus) {
	for _, name := range slices.Sorted(maps.Keys(known)) {
		k := known[name]
		at := b.campaign.Place(name)
		same := at >= 0 && slices.Equal(b.campaign.Merges[at].Worlds, k.Worlds)
		if k.begun() && !same && (at >= 0 || k.Phase != Verified) {
			all = append(all, k.MergeStatus)
		}
	}
	return all
}

// end records that the command ended.
func (r *runner) end(err error) {
	failed := err != nil
	r.log(func(ctx context.Context, s state) error {
		now := r.book.now().UTC()
		count := make(map[Phase]int)
		for _, m := range r.book.campaign.Merges {
			if err := s.set(ctx, m, func(rec *record) { rec.idle(); count[rec.Phase]++ }); err != nil {
				return err
			}
		}
		if err := s.setGeneral(ctx, func(g *general) {
			g.Waits, g.Ended = "", &now
			g.clock(now, false)
			g.Lost = g.Lost && (r.doing != doingPlan || failed)
		}); err != nil {
			return err
		}
		text := r.doing + " ended: " + counted(count)
		if errors.Is(err, merge.ErrStopped) {
			text = r.doing + " was interrupted: " + counted(count)
		}
		return s.event(ctx, now, KindEnded, "", text)
	})
}

// counted says how many merges are in which phase.
func counted(count map[Phase]int) string {
	var parts []string
	for _, p := range []Phase{
		Verified, Opening, Made, Verifying, Copying, Tried, Trying, Undoing,
		Failed, Undone, Refused, Skipped, Planned, Planning,
		Waiting,
	} {
		if count[p] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[p], p))
		}
	}
	return printable.List(parts, ", ", len(parts))
}

// log changes the state, which is only a log: while that is impossible, as on a full disk, it
// tries again. After some time it stops the work, which can be resumed.
func (r *runner) log(do func(ctx context.Context, s state) error) {
	patience, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for warned := false; ; {
		err := r.book.change(context.Background(), do)
		if err == nil {
			return
		}
		if !warned {
			r.opts.Warn(err.Error())
			warned = true
		}
		if r.givenUp.Load() || patience.Err() != nil {
			r.givenUp.Store(true)
			r.stop(err)
			return
		}
		time.Sleep(time.Second)
	}
}

// update changes the record of a merge, and adds an event about it if kind is not empty.
func (r *runner) update(m Merge, kind, text string, set func(*record)) {
	r.log(func(ctx context.Context, s state) error {
		if set != nil {
			if err := s.set(ctx, m, set); err != nil {
				return err
			}
		}
		if kind == "" {
			return nil
		}
		return s.event(ctx, r.book.now(), kind, m.Name(), text)
	})
}

// waits records what the command waits for; "" if it does not.
func (r *runner) waits(why string) {
	r.log(func(ctx context.Context, s state) error {
		g, err := s.general(ctx)
		if err != nil || g.Waits == why {
			return err
		}
		if err := s.setGeneral(ctx, func(g *general) {
			g.Waits = why
			g.clock(r.book.now().UTC(), g.works())
		}); err != nil || why == "" {
			return err
		}
		return s.event(ctx, r.book.now(), KindWaiting, "", why)
	})
}

// watch looks for wishes of the operator, and writes how far the merges are, until the work has
// ended.
func (r *runner) watch(ctx context.Context) {
	ticker := time.NewTicker(r.opts.tick)
	defer ticker.Stop()
	for {
		select {
		case <-r.ended:
			return
		case <-ticker.C:
			r.glance(ctx)
		}
	}
}

// glance looks for wishes and writes progress, once.
func (r *runner) glance(ctx context.Context) {
	now := r.book.now()
	paused, skipped := false, []string(nil)
	err := r.book.change(ctx, func(ctx context.Context, s state) error {
		g, err := s.general(ctx)
		if err != nil {
			return err
		}
		paused, skipped = g.Paused, nil
		for _, m := range r.book.campaign.Merges {
			w := r.workerOf(m.Name())
			if w == nil {
				continue
			}
			if err := s.set(ctx, m, func(rec *record) {
				w.meter.into(rec, now)
				if rec.Skip {
					skipped = append(skipped, m.Name())
				}
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return // what has to be written is written by log
	}
	r.setPaused(paused)
	for _, name := range skipped {
		if w := r.workerOf(name); w != nil {
			w.skip(errSkipped)
		}
	}
}

func (r *runner) workerOf(merge string) *worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.working[merge]
}

func (r *runner) setPaused(paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case paused && r.paused == nil:
		r.paused = make(chan struct{})
	case !paused && r.paused != nil:
		close(r.paused)
		r.paused = nil
	}
}

func (r *runner) isPaused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused != nil
}

// pause rests between two batches, and waits while the campaign is paused.
func (r *runner) pause(ctx context.Context) error {
	if err := r.held(ctx); err != nil || r.opts.Work.Pause == nil {
		return err
	}
	return r.opts.Work.Pause(ctx)
}

// held waits while the campaign is paused.
func (r *runner) held(ctx context.Context) error {
	for {
		r.mu.Lock()
		paused := r.paused
		r.mu.Unlock()
		if paused == nil {
			return nil
		}
		select {
		case <-paused:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// notify calls the hooks for each event, in their order and one at a time, until the work has
// ended and all are told. After a kill it goes on with the first that was not told.
func (r *runner) notify(ctx context.Context) {
	if len(r.book.campaign.Hooks) == 0 {
		return
	}
	// A hook that is told of the end may take its time, but not for ever.
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	ticker := time.NewTicker(r.opts.tick)
	defer ticker.Stop()
	for ended := false; ; {
		r.notifyNew(last)
		if ended {
			return
		}
		select {
		case <-r.ended:
			ended = true
			time.AfterFunc(HookTimeout, cancel)
		case <-ticker.C: // another process may have added events too
		}
	}
}

func (r *runner) notifyNew(ctx context.Context) {
	var g general
	err := r.book.look(ctx, func(ctx context.Context, s state) (err error) { g, err = s.general(ctx); return err })
	if err != nil {
		return
	}
	for {
		events, err := r.book.Events(ctx, g.Told, 100)
		if err != nil || len(events) == 0 {
			return
		}
		for _, e := range events {
			m := Message{Event: e.Kind, At: e.At, Number: e.Number, Merge: e.Merge, Text: e.Text}
			if of, err := r.book.merge(e.Merge); err == nil {
				m.Worlds = of.Worlds
				rec := r.recordOf(&job{Merge: of})
				m.New, m.Address = rec.New, shown(rec.To)
			}
			var failed []error
			if e.Kind != KindHook {
				failed = r.book.campaign.notify(ctx, m)
			}
			if ctx.Err() != nil {
				return
			}
			g.Told = e.Number
			r.log(func(ctx context.Context, s state) error {
				for _, err := range failed {
					if err := s.event(ctx, r.book.now(), KindHook, e.Merge, err.Error()); err != nil {
						return err
					}
				}
				return s.setGeneral(ctx, func(now *general) { now.Told = e.Number })
			})
		}
	}
}
