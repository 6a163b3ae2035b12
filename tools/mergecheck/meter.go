package main

import (
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/merge/rules"
)

// meter measures how fast one database is read, or all of them, and how long the rest takes.
type meter struct {
	estimate.Meter
	begun   bool
	current rules.Progress
	judging string // the condition that takes long
	load    int    // running threads, while the reading rests because of them; 0 while it does not
}

func (m *meter) report(p rules.Progress, now time.Time) {
	m.Report(merge.Progress{Step: merge.StepCheck, Database: p.World, Rows: p.WorldRows, Total: p.WorldTotal}, now)
	m.begun, m.current, m.load, m.judging = true, p, 0, ""
}

// howFar is, for example, "45 %  9.0 M of 20.0 M rows  1.5 M/s  7s left".
func (m *meter) howFar(done, total int64, now time.Time) string {
	left, _ := m.Left(now)
	return printable.HowFar(done, total, m.Rate(merge.StepCheck, now), left)
}

// text is, for example,
// "45 %  9.0 M of 20.0 M rows  1.5 M/s  7s left  items key-collision".
func (m *meter) text(now time.Time) string {
	if m.judging != "" {
		return m.judging
	}
	if !m.begun {
		if m.load > 0 {
			return m.resting()
		}
		return "waiting"
	}
	doing := reading(m.current)
	if m.load > 0 {
		doing = m.resting()
	}
	if m.current.WorldRows >= m.current.WorldTotal {
		return printable.Short(float64(m.current.WorldTotal)) + " rows are read  " + doing
	}
	return m.howFar(m.current.WorldRows, m.current.WorldTotal, now) + "  " + doing
}

func reading(p rules.Progress) string { return printable.Text(p.Table) + " " + p.Code }

func (m *meter) resting() string { return fmt.Sprintf("resting: %d threads are running", m.load) }
