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

// reading is what is told how far reading has come, after every batch. It rests
// there.
func (w *watch) reading(ctx context.Context) func(transfer.Progress) {
	var one sync.Mutex
	return func(now transfer.Progress) {
		w.progress.report(now)
		one.Lock()
		defer one.Unlock()
		w.sparer.wait(ctx) // an interrupt ends the reading by itself
	}
}

// writing completes the options of work that writes: it rests between
// transactions.
func (w *watch) writing(o transfer.Options) transfer.Options {
	o.Pause, o.Progress, o.Waiting = w.sparer.wait, w.progress.report, w.progress.waits
	return o
}

func (w *watch) close() {
	w.sparer.close()
	w.progress.stop()
}
