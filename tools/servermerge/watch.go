package main

import (
	"context"
	"sync"

	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/throttle"
)

// watch is what goes along with work on databases: progress is shown, and
// others on the same servers are spared.
type watch struct {
	progress *progress
	sparer   *sparer
}

func (s surroundings) watch(t throttle.Throttle, all []transfer.Database) *watch {
	p := newProgress(s.stderr)
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
	o.Pause, o.Progress, o.Waiting = w.sparer.wait, w.progress.report, w.progress.waits
	return o
}

func (w *watch) close() {
	w.sparer.close()
	w.progress.stop()
}
