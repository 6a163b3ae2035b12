package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/merge/report"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// display shows on stderr how far the work has come, by one bar. It has no
// influence on the result.
type display struct {
	log      *cli.Log
	terminal bool
	display  *cli.Display

	mu      sync.Mutex
	meter   meter
	phases  verdict.Phases
	waiting string         // what the work waits for; empty while it runs
	seen    merge.Progress // that the last line told of
}

func newProgress(log *cli.Log, terminal bool, options ...mpb.ContainerOption) *display {
	p := &display{log: log, terminal: terminal}
	p.display = cli.NewDisplay(log, terminal, []string{""}, p.text, p.writeLine, options...)
	return p
}

// report is what package merge tells. It may be called by several
// goroutines.
func (p *display) report(now merge.Progress) {
	p.mu.Lock()
	p.waiting = ""
	was := p.meter.Shown().Step
	p.meter.Report(now, time.Now())
	if is := p.meter.Shown().Step; is != was {
		p.phases.Begin(is, time.Now())
		p.display.Phase(doing[is])
	}
	p.mu.Unlock()
	p.show()
	if now.Again != "" {
		p.display.Say(report.Again(now.Database, now.Table, now.Again), "again", true)
	}
}

// rests notes that a server has too much to do.
func (p *display) rests(database string, threads int) {
	p.wait(fmt.Sprintf("resting: %d threads are running on %s", threads, database), false)
}

// all are the phases of the run that has ended.
func (p *display) all() verdict.Phases {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phases.End(time.Now())
	return p.phases
}

// measure tells the meter of something that it does not see by itself.
func (p *display) measure(note func(m *estimate.Meter, now time.Time)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	note(&p.meter.Meter, time.Now())
}

// lags notes that a replica is too far behind, or that how far is not known: err says why.
func (p *display) lags(replica string, lag time.Duration, err error) {
	if err != nil {
		p.wait(fmt.Sprintf("resting: the lag of %s is unknown: %v", replica, report.Plainly(err)), true)
		return
	}
	p.wait(fmt.Sprintf("resting: %s lags %s", replica, lag), false)
}

// judges notes that a condition takes long.
func (p *display) judges(world, condition string, took time.Duration) {
	p.wait(report.Judging(world, condition, took), false)
}

// waits notes that a database is away.
func (p *display) waits(err error) {
	p.wait("waiting for a database: "+report.Plainly(err).Error(), true)
}

// wait notes why the work waits. What is urgent gets a line at once where there
// is no bar.
func (p *display) wait(why string, urgent bool) {
	p.mu.Lock()
	if urgent && p.waiting == "" && !p.terminal {
		p.log.Say(printable.Text(why), "waiting", true)
	}
	p.waiting = why
	p.mu.Unlock()
	p.show()
}

func (p *display) show() {
	p.mu.Lock()
	shown := p.meter.Shown()
	p.mu.Unlock()
	p.display.Show(0, shown.Rows, shown.Total)
}

func (p *display) text(int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

func (p *display) writeLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, shown := p.now(), p.meter.Shown()
	if p.waiting == "" && shown.Step != "" && p.seen == shown {
		text += "  nothing was done in the last " + cli.LineEvery.String()
	}
	p.seen = shown
	p.log.Say(text, "done", shown.Rows, "total", shown.Total, "waiting", p.waiting != "")
}

// now is how far the work is. The caller holds mu.
func (p *display) now() string {
	text := p.meter.text(time.Now())
	if p.waiting != "" {
		text = printable.Text(p.waiting) + "  " + text // a terminal may cut the end off
	}
	return text
}

// meter measures how fast the work goes, and how long the rest of it takes.
type meter struct{ estimate.Meter }

// doing are the steps in the words of the operator.
var doing = map[string]string{
	merge.StepCheck:   "checking",
	merge.StepMeasure: "summing up",
	merge.StepCopy:    "copying",
	merge.StepIndex:   "making indexes",
	merge.StepFinish:  "completing",
	merge.StepVerify:  "verifying",
	merge.StepResult:  "checking the result",
}

// text is, for example,
// "copying  45 %  9.0 M of 20.0 M rows  150 k/s  1m13s left  items of s2".
func (m *meter) text(now time.Time) string {
	p := m.Shown()
	if p.Step == "" {
		return "no rows are read yet"
	}
	left, _ := m.Left(now)
	switch p.Step {
	case merge.StepResult:
		return doing[p.Step] + "  " + printable.Left(left)
	case merge.StepIndex, merge.StepFinish:
		return doing[p.Step] + "  all " + printable.Short(float64(p.Total)) + " rows are there  " + printable.Left(left)
	}
	text := doing[p.Step] + "  " + printable.HowFar(p.Rows, p.Total, m.Rate(p.Step, now), left)
	if p.Before > 0 {
		text += "  " + printable.Short(float64(p.Before)) + " of them by an earlier run"
	}
	return text + "  " + printable.Text(p.Table+" of "+p.Database)
}
