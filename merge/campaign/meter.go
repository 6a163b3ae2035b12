package campaign

import (
	"sync"
	"time"

	"mergesafe/merge/progress"
	"mergesafe/merge/transfer"
)

// meter measures how far the work on one merge is, and how fast it went lately.
type meter struct {
	after float64 // seconds that are predicted for what comes after the copying

	mu       sync.Mutex
	step     string
	rows     int64
	total    int64
	read     map[string]transfer.Progress // by database: the check counts each by itself
	seen     []reading                    // lately, the oldest first
	retrying string                       // the error because of which it waits
}

type reading struct {
	at   time.Time
	rows int64
}

// lately is over how long a rate is measured.
const lately = 10 * time.Second

// report is what package transfer tells.
func (m *meter) report(p transfer.Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Step != m.step {
		m.step, m.seen, m.read = p.Step, nil, make(map[string]transfer.Progress)
	}
	m.rows, m.total, m.retrying = p.Rows, p.Total, ""
	if p.Step == transfer.StepCheck {
		m.read[p.Database], m.rows, m.total = p, 0, 0
		for _, of := range m.read {
			m.rows, m.total = m.rows+of.Rows, m.total+of.Total
		}
	}
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
	r.Step, r.Done, r.Total, r.Waits = m.step, m.rows, m.total, m.retrying
	m.seen = append(m.seen, reading{now, m.rows})
	for len(m.seen) > 2 && now.Sub(m.seen[1].at) >= lately {
		m.seen = m.seen[1:]
	}
	r.PerSecond, r.Left = 0, 0
	if first := m.seen[0]; now.After(first.at) && m.rows > first.rows {
		r.PerSecond = float64(m.rows-first.rows) / now.Sub(first.at).Seconds()
		r.Left = float64(m.total-m.rows) / r.PerSecond
		if r.Phase == progress.Copying {
			r.Left += m.after
		}
	}
}
