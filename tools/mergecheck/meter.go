package main

import (
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
)

// meter measures how fast one database is read, and how long the rest will
// take at that rate.
type meter struct {
	started time.Time // of the first rows
	current declare.Progress
	load    int // running threads, while the reading rests because of them; 0 while it does not
}

func (m *meter) report(p declare.Progress, now time.Time) {
	if m.started.IsZero() {
		m.started = now
	}
	m.current, m.load = p, 0
}

// rate is rows a second, on average from the first row on.
func (m *meter) rate(now time.Time) float64 {
	if m.started.IsZero() {
		return 0
	}
	return float64(m.current.SourceRows) / max(now.Sub(m.started).Seconds(), 0.001)
}

// text is, for example,
// "45 %  9.0 M of 20.0 M rows  1.5 M/s  7s left  items key-collision".
func (m *meter) text(now time.Time) string {
	if m.started.IsZero() {
		if m.load > 0 {
			return m.resting()
		}
		return "waiting"
	}
	doing := reading(m.current)
	if m.load > 0 {
		doing = m.resting()
	}
	return printable.HowFar(m.current.SourceRows, m.current.SourceTotal, m.rate(now)) + "  " + doing
}

func reading(p declare.Progress) string { return printable.Text(p.Table) + " " + p.Code }

func (m *meter) resting() string { return fmt.Sprintf("resting: %d threads are running", m.load) }
