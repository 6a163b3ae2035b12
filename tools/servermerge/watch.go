package main

import (
	"context"
	"strings"
	"sync"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/throttle"
)

// watch is what goes along with work on databases: progress is shown, and
// others on the same servers are spared.
type watch struct {
	progress *progress
	sparer   *sparer
}

// newWatch begins with the databases being opened.
func newWatch(log *cli.Log, t throttle.Throttle, all []transfer.Database) *watch {
	p := newProgress(log, log.IsTerminal())
	p.display.Phase("opening " + printable.Names(slice.Map(all, func(d transfer.Database) string { return d.Name })))
	return &watch{p, newSparer(t, all, p.rests)}
}

// planning is what is told how far a plan has come, after every batch that is
// read. It rests there.
func (w *watch) planning(ctx context.Context) func(transfer.Progress) {
	var one sync.Mutex // the check reads several databases at a time
	return func(now transfer.Progress) {
		w.progress.report(now)
		one.Lock()
		defer one.Unlock()
		w.sparer.wait(ctx) // an interrupt ends the reading by itself
	}
}

// working completes the options of what works through a plan: it rests between
// batches.
func (w *watch) working(o transfer.Options) transfer.Options {
	o.Pause, o.Progress, o.Retrying = w.sparer.wait, w.progress.report, w.progress.waits
	return o
}

func (w *watch) close() {
	w.sparer.close()
	w.progress.display.Stop()
}

// sparer waits between batches for the sake of whoever else works on the same
// servers.
type sparer struct {
	pauses []func(context.Context) error
	loads  []*load
}

// newSparer spares the servers of some databases. rests is told of every look
// that finds one of them too busy.
func newSparer(t throttle.Throttle, all []transfer.Database, rests func(database string, threads int)) *sparer {
	s := new(sparer)
	if t == (throttle.Throttle{}) {
		return s
	}
	for _, d := range all {
		l := &load{database: d}
		s.loads = append(s.loads, l)
		s.pauses = append(s.pauses, t.Pauser(l.threads, func(n int) { rests(d.Name, n) }))
		t.Pause = 0 // once for all
	}
	return s
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
	for _, l := range s.loads {
		if l.source != nil {
			l.source.Close() // nothing was written that could be lost
		}
	}
}

// load asks the server of one database how busy it is.
type load struct {
	database transfer.Database
	source   *sqlsource.Source // nil until it is asked
}

// threads never fails: where the server does not answer, whoever works with it
// finds out, and knows how long to wait for it.
func (l *load) threads(ctx context.Context) (int, error) {
	if !strings.HasPrefix(l.database.DSN, "mysql:") {
		return 0, nil
	}
	if l.source == nil {
		s, err := sqlsource.OpenWith(ctx, l.database.Name, l.database.DSN, sqlsource.Options{NoSnapshot: true})
		if err != nil {
			return 0, nil
		}
		l.source = s
	}
	if n, err := l.source.Load(ctx); err == nil {
		return n, nil
	}
	return 0, nil
}
