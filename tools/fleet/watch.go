package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/tools/internal/cli"
)

// watch shows on stderr how far a campaign is while a command works on it: on a terminal one
// line, elsewhere a line for each event and every 30 seconds. It reads the state, as every
// other program may.
type watch struct {
	night   *night
	log     *cli.Log
	display *cli.Display
	stop    func() // looking
	now     atomic.Pointer[campaign.Status]
	last    int64 // the last event that was told
}

// watch begins to show the campaign.
func (n *night) watch(ctx context.Context) *watch {
	w := &watch{night: n, log: cli.LogOf(n.cmd)}
	if s, err := n.book.Status(ctx); err == nil {
		w.now.Store(s)
		w.last = s.LastEvent
	}
	w.display = cli.NewDisplay(w.log, w.log.ShowsBars(), []string{""}, func(int) string { return w.text() }, w.line)
	w.stop = cli.Every(time.Second, func() { w.look(context.WithoutCancel(ctx)) })
	return w
}

func (w *watch) close() {
	w.stop()
	w.look(context.Background())
	w.display.Stop()
}

// look reads the state once, and shows it.
func (w *watch) look(ctx context.Context) {
	s, err := w.night.book.Status(ctx)
	if err != nil {
		return
	}
	w.now.Store(s)
	events, err := w.night.book.Events(ctx, w.last, 1000)
	if err != nil {
		return
	}
	for _, e := range events {
		w.last = e.Number
		if w.log.ShowsBars() {
			continue
		}
		text := e.Text
		if e.Merge != "" {
			text = e.Merge + " " + e.Kind + ": " + text
		}
		w.log.Say(printable.Text(text), "event", e.Number, "kind", e.Kind, "merge", e.Merge)
	}
	w.display.Show(0, int64(1000*s.Share()), 1000)
}

// cameOf is how many rows came, and how many come in all.
func cameOf(s *campaign.Status) (done, total int64) {
	for i := range s.Merges {
		done, total = done+s.Merges[i].Came(), total+s.Merges[i].Rows
	}
	return done, total
}

// text is, for example, "12 of 60 verified, 1 failed; w7 copying 45 %, 150 k rows/s; 4m to 6m left".
func (w *watch) text() string {
	s := w.now.Load()
	if s == nil {
		return ""
	}
	c := s.Tally()
	text := fmt.Sprintf("%d of %d verified", c.Verified, c.All)
	switch s.Doing {
	case "plan":
		text = fmt.Sprintf("%d of %d planned", c.Planned, c.All)
	case "try":
		text = fmt.Sprintf("%d of %d tried", c.Tried, c.All)
	}
	if c.Failed+c.Refused > 0 {
		text += fmt.Sprintf(", %d failed or refused", c.Failed+c.Refused)
	}
	var active []string
	var rate float64
	for _, m := range s.Merges {
		if m.Active {
			active = append(active, m.Name()+" "+strings.TrimSpace(string(m.Phase)+" "+percent(m)))
			rate += m.PerSecond
		}
	}
	if len(active) > 0 {
		text += "; " + printable.List(active, ", ", 4)
	}
	if rate > 0 {
		text += "; " + printable.Short(rate) + " rows/s"
	}
	switch left, unknown := s.TimeLeft(); {
	case s.Doing != "apply":
	case unknown > 0:
		text += "; time left unknown: of " + printable.Count(int64(unknown), "merge", "merges") + " nothing is measured"
	case left[1] > 0:
		text += "; " + printable.Span(left) + " left"
	}
	if s.Waits != "" {
		text += "; waits " + s.Waits
	}
	return printable.Text(text)
}

func percent(m campaign.MergeStatus) string {
	if m.Total == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", int(100*m.Progress()))
}

func (w *watch) line() {
	s := w.now.Load()
	if s == nil {
		return
	}
	c := s.Tally()
	done, total := cameOf(s)
	w.log.Say(w.text(), "done", done, "total", total, "waiting", s.Waits != "", "verified", c.Verified, "failed", c.Failed, "active", c.Active, "merges", c.All)
}
