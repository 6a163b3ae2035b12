package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/merge/world"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// watch is what goes along with work on databases: progress is shown, and
// others on the same servers are spared.
type watch struct {
	progress *display
	sparer   *sparer
}

// newWatch begins with the databases being opened.
func newWatch(log *cli.Log, t databases.Throttle, all []merge.Database) *watch {
	p := newProgress(log, log.ShowsBars())
	p.display.Phase("opening " + printable.Names(slice.Map(all, func(d merge.Database) string { return d.Name })))
	return &watch{progress: p, sparer: newSparer(t, all, p.rests)}
}

// watch begins, with the databases being opened.
func (j *work) watch(log *cli.Log, all ...estimate.Amount) *watch {
	w := newWatch(log, j.spare, j.all())
	w.sparer.follow(j.spare, j.replicas, w.progress.lags)
	w.progress.meter.Engine = j.plan.Engine
	w.progress.meter.Pause = j.spare.Pause
	w.progress.meter.Expect(all...)
	j.phases = w.progress.all
	return w
}

// planning is what is told how far a plan has come, after every batch that is
// read. It rests there.
func (w *watch) planning(ctx context.Context) func(merge.Progress) {
	var one sync.Mutex // the check reads several databases at a time
	return func(now merge.Progress) {
		w.progress.report(now)
		one.Lock()
		defer one.Unlock()
		w.sparer.wait(ctx) // an interrupt ends the reading by itself
	}
}

// working completes the options of what works through a plan: it rests between
// batches.
func (w *watch) working(o merge.Options) merge.Options {
	o.Pause, o.Progress, o.Retrying = w.wait, w.progress.report, w.progress.waits
	return o
}

func (w *watch) wait(ctx context.Context) error {
	began := time.Now()
	defer w.progress.measure(func(m *estimate.Meter, now time.Time) { m.Rested(now.Sub(began)) })
	return w.sparer.wait(ctx)
}

func (w *watch) close() {
	w.sparer.close()
	w.progress.display.Stop()
}

// sparer waits between batches for the sake of whoever else works on the same
// servers.
type sparer struct {
	pauses []func(context.Context) error
	asked  []*load
}

// newSparer spares the servers of some databases. rests is told of every look
// that finds one of them too busy.
func newSparer(t databases.Throttle, all []merge.Database, rests func(database string, threads int)) *sparer {
	s := &sparer{}
	if t.Pause == 0 && t.MaxLoad == 0 {
		return s
	}
	for _, d := range all {
		l := &load{database: d}
		s.asked = append(s.asked, l)
		s.pauses = append(s.pauses, t.Pauser(l.threads, func(n int) { rests(d.Name, n) }))
		t.Pause = 0 // once for all
	}
	return s
}

// follow has the sparer wait for replicas too. lags is told of every look that finds one too far behind.
func (s *sparer) follow(t databases.Throttle, replicas []merge.Database, lags func(replica string, lag time.Duration, err error)) {
	for _, d := range replicas {
		l := &load{database: d}
		s.asked = append(s.asked, l)
		s.pauses = append(s.pauses, l.reached, t.Follower(l.lag, func(lag time.Duration, err error) { lags(d.Name, lag, err) }))
	}
}

// wait is to be called between batches, by one goroutine at a time.
func (s *sparer) wait(ctx context.Context) error {
	for _, pause := range s.pauses {
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *sparer) close() {
	for _, l := range s.asked {
		if l.source != nil {
			l.source.Close() // nothing was written that could be lost
		}
	}
}

// load asks the server of one database how busy it is.
type load struct {
	database merge.Database
	source   *world.Source // nil until it is asked
}

// threads never fails: where the server does not answer, whoever works with it
// finds out, and knows how long to wait for it.
func (l *load) threads(ctx context.Context) (int, error) {
	if !strings.HasPrefix(l.database.DSN, "mysql:") {
		return 0, nil
	}
	if l.open(ctx) != nil {
		return 0, nil
	}
	if n, err := l.source.Load(ctx); err == nil {
		return n, nil
	}
	return 0, nil
}

// reached fails if a replica cannot be asked the first time: its DSN may be wrong, and to rest for it would never end.
// One that answered once is waited for.
func (l *load) reached(ctx context.Context) error {
	if l.source != nil {
		return nil
	}
	if _, err := l.lag(ctx); err != nil && !errors.Is(err, world.ErrNotReplicating) {
		return fmt.Errorf("-replica %s: %w", printable.Text(l.database.Name), err)
	}
	return nil
}

// lag is how far a replica is behind.
func (l *load) lag(ctx context.Context) (time.Duration, error) {
	if err := l.open(ctx); err != nil {
		return 0, err
	}
	return l.source.Lag(ctx)
}

func (l *load) open(ctx context.Context) (err error) {
	if l.source == nil {
		l.source, err = world.OpenWith(ctx, l.database.Name, l.database.DSN, world.Options{NoSnapshot: true})
	}
	return err
}
