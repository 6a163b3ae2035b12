package campaign

import (
	"context"
	"sync"
	"time"

	"mergesafe/merge/estimate"

	"mergesafe/merge"
	"mergesafe/merge/verdict"
)

// meter measures how far the work on one merge is, and how long it still takes.
type meter struct {
	held     func(context.Context) error // waits while the campaign is paused
	mu       sync.Mutex
	began    time.Time // of what is reported
	left     estimate.Meter
	phases   verdict.Phases
	retrying string // the error because of which it waits
}

// expect says what comes, and how long it rests before a batch, before anything of it is reported.
func (m *meter) expect(p *merge.Plan, rest time.Duration, proved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left.Engine, m.left.Pause = p.Engine, rest
	m.left.Expect(estimate.ApplyWork(p.Rows())...)
	if proved {
		m.left.Expect(estimate.VerifyWork(p.Rows())...)
	}
}

// rests has a pause between batches measured.
func (m *meter) rests(pause func(context.Context) error) func(context.Context) error {
	note := func(what func(now time.Time)) {
		m.mu.Lock()
		defer m.mu.Unlock()
		what(time.Now())
	}
	return func(ctx context.Context) error {
		note(m.left.Hold)
		err := m.held(ctx)
		note(m.left.Release)
		if err != nil || pause == nil {
			return err
		}
		began := time.Now()
		err = pause(ctx)
		note(func(now time.Time) { m.left.Rested(now.Sub(began)) })
		return err
	}
}

// report is what package merge tells.
func (m *meter) report(p merge.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if m.began.IsZero() {
		m.began = now
	}
	before := m.left.Shown().Step
	m.left.Report(p, now)
	m.retrying = ""
	if step := m.left.Shown().Step; step != before {
		m.phases.Begin(step, now)
	}
}

// trace adds the phases that have ended to a record that lacks them.
func (m *meter) trace(r *record) {
	for _, p := range m.phases {
		n := len(r.Phases)
		if p.Seconds > 0 && (n == 0 || p.Began.After(r.Phases[n-1].Began) || p.Began.Equal(r.Phases[n-1].Began) && p.Step != r.Phases[n-1].Step) {
			r.Phases = append(r.Phases, p)
		}
	}
}

// end ends the last phase.
func (m *meter) end(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phases.End(now)
}

// waits notes that a database is away.
func (m *meter) waits(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retrying = why.Error()
}

// into writes how far the work is into a record.
func (m *meter) into(r *record, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trace(r)
	p := m.left.Shown()
	r.Step, r.Done, r.Total, r.Waits = p.Step, p.Rows, p.Total, m.retrying
	switch {
	case p.Step == merge.StepCopy && (r.Phase == Copying || r.Phase == Trying):
		r.Copied = p.Rows
	case p.Step == merge.StepIndex, p.Step == merge.StepFinish:
		r.Copied = r.Rows
	}
	r.PerSecond, r.Left = m.left.Rate(p.Step, now), 0
	if !m.began.IsZero() {
		r.Elapsed = now.Sub(m.began).Seconds()
	}
	if left, known := m.left.Left(now); known {
		r.Left = left.Seconds()
	}
}
