package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"mergesafe/internal/printable"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// progress shows on stderr how far the work has come, by one bar. It has no
// influence on the result.
type progress struct {
	log      *cli.Log
	terminal bool
	display  *cli.Display

	mu      sync.Mutex
	meter   meter
	waiting string            // what the work waits for; empty while it runs
	seen    transfer.Progress // that the last line told of
}

func newProgress(log *cli.Log, terminal bool, options ...mpb.ContainerOption) *progress {
	p := &progress{log: log, terminal: terminal}
	p.display = cli.NewDisplay(log, terminal, []string{""}, p.text, p.writeLine, options...)
	return p
}

// report is what package transfer tells. It may be called by several
// goroutines.
func (p *progress) report(now transfer.Progress) {
	p.mu.Lock()
	p.waiting = ""
	if now.Step != p.meter.step {
		p.display.Phase(doing[now.Step])
	}
	p.meter.report(now, time.Now())
	p.mu.Unlock()
	p.show()
}

// rests notes that a server has too much to do.
func (p *progress) rests(database string, threads int) {
	p.wait(fmt.Sprintf("resting: %d threads are running on %s", threads, database), false)
}

// lags notes that a replica is too far behind, or that how far is not known: err says why.
func (p *progress) lags(replica string, lag time.Duration, err error) {
	if err != nil {
		p.wait(fmt.Sprintf("resting: how far %s lags is not known: %v", replica, report.Plainly(err)), true)
		return
	}
	p.wait(fmt.Sprintf("resting: %s lags %s", replica, lag), false)
}

// pauses notes that another terminal has paused the work.
func (p *progress) pauses(why string) { p.wait(why, true) }

// waits notes that a database is away.
func (p *progress) waits(err error) {
	p.wait("waiting for a database: "+report.Plainly(err).Error(), true)
}

// wait notes why the work waits. What is urgent gets a line at once where there
// is no bar.
func (p *progress) wait(why string, urgent bool) {
	p.mu.Lock()
	if urgent && p.waiting == "" && !p.terminal {
		p.log.Say(printable.Text(why), "waiting", true)
	}
	p.waiting = why
	p.mu.Unlock()
	p.show()
}

func (p *progress) show() {
	p.mu.Lock()
	rows, total := p.meter.rows, p.meter.total
	p.mu.Unlock()
	p.display.Show(0, rows, total)
}

func (p *progress) text(int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

func (p *progress) writeLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.now()
	if p.waiting == "" && !p.meter.started.IsZero() && p.seen == p.meter.latest {
		text += "  nothing was done in the last " + cli.LineEvery.String()
	}
	p.seen = p.meter.latest
	p.log.Say(text, "done", p.meter.rows, "total", p.meter.total, "waiting", p.waiting != "")
}

// now is how far the work is. The caller holds mu.
func (p *progress) now() string {
	text := p.meter.text(time.Now())
	if p.waiting != "" {
		text = printable.Text(p.waiting) + "  " + text // a terminal may cut the end off
	}
	return text
}

// meter measures how fast one step goes, and how long the rest of it will take
// at that rate.
type meter struct {
	step    string
	started time.Time
	first   int64 // rows that were done by this call when it began
	latest  transfer.Progress

	rows, total int64
	checked     map[string]transfer.Progress // by database: only the check counts each by itself
}

// doing are the steps in the words of the operator.
var doing = map[string]string{
	transfer.StepCheck:   "checking",
	transfer.StepMeasure: "summing up",
	transfer.StepRename:  "renaming in the target",
	transfer.StepReset:   "emptied tables",
	transfer.StepCopy:    "copying",
	transfer.StepVerify:  "verifying",
	transfer.StepCompare: "comparing",
	transfer.StepUndo:    "removing",
	transfer.StepRestore: "restoring names",
}

func (m *meter) report(p transfer.Progress, now time.Time) {
	rows, total := p.Rows, p.Total
	if p.Step != m.step {
		*m = meter{step: p.Step, checked: make(map[string]transfer.Progress)}
	}
	if p.Step == transfer.StepCheck {
		m.checked[p.Database] = p
		rows, total = 0, 0
		for _, c := range m.checked {
			rows += c.Rows
			total += c.Total
		}
	}
	if m.started.IsZero() {
		m.started, m.first = now, rows-p.Before
	}
	m.latest, m.rows, m.total = p, rows, total
}

// text is, for example,
// "copying  45 %  9.0 M of 20.0 M rows  150 k/s  1m13s left  items of s2".
func (m *meter) text(now time.Time) string {
	if m.started.IsZero() {
		return "no rows are read yet"
	}
	rate := float64(m.rows-m.latest.Before-m.first) / max(now.Sub(m.started).Seconds(), 0.001)
	return doing[m.step] + "  " + printable.HowFar(m.rows, m.total, rate) + "  " + printable.Text(m.latest.Table+" of "+m.latest.Database)
}
