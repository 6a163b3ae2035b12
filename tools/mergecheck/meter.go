package main

import (
	"fmt"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// meter measures how fast one database is read, and how long the rest will
// take at that rate.
type meter struct {
	started time.Time // of the first rows
	current merge.Progress
	load    int // running threads, while the reading rests because of them; 0 while it does not
}

func (m *meter) report(p merge.Progress, now time.Time) {
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
	return howFar(m.current.SourceRows, m.current.SourceTotal, m.rate(now)) + "  " + doing
}

func reading(p merge.Progress) string { return printable.Text(p.Table) + " " + p.Code }

func (m *meter) resting() string { return fmt.Sprintf("resting: %d threads are running", m.load) }

// howFar is what is done, how fast, and how long the rest will take.
func howFar(done, total int64, rate float64) string {
	percent := int64(100)
	if total > 0 {
		percent = 100 * done / total
	}
	text := fmt.Sprintf("%d %%  %s of %s rows  %s/s", percent, short(float64(done)), short(float64(total)), short(rate))
	switch rest := float64(total-done) / rate; {
	case done >= total:
	case rate <= 0 || rest > 1e6: // longer than anybody waits, and than a Duration holds
		text += "  nobody knows how long"
	default:
		text += "  " + time.Duration(rest*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return text
}

// short writes a number for a line that has little room.
func short(n float64) string {
	switch {
	case n < 1e4:
		return fmt.Sprintf("%.0f", n)
	case n < 1e7:
		return fmt.Sprintf("%.0f k", n/1e3)
	default:
		return fmt.Sprintf("%.1f M", n/1e6)
	}
}
