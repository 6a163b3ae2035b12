package main

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"mergesafe/internal/printable"
	"mergesafe/merge/report"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// display shows on stderr how far a check has come: first what takes only
// seconds to find out, then a bar for every database. If stderr is no terminal,
// there is a line at the beginning of each phase, and then lines of all databases together.
// It has no influence on the result.
type display struct {
	log      *cli.Log
	terminal bool
	names    []string
	display  *cli.Display

	mu     sync.Mutex
	meters map[string]*meter // by name of the source
	all    meter             // of all together
	phase  phase
	phases verdict.Phases
	latest rules.Progress
	early  string // what was found first, while it is not yet shown
	seen   int64  // rows that the last line told of
}

// phase is what a check does, in words.
type phase string

const (
	phaseOpening phase = "opening"
	phaseSchemas phase = "reading the schemas of"
	phaseRows    phase = "reading the rows of"
)

// steps are the names of phases in the report.
var steps = map[phase]string{phaseOpening: "open", phaseSchemas: "schemas", phaseRows: "rows"}

func newProgress(log *cli.Log, terminal bool, names []string, options ...mpb.ContainerOption) *display {
	p := &display{log: log, terminal: terminal, names: names, meters: make(map[string]*meter)}
	for _, name := range names {
		p.meters[name] = new(meter)
	}
	p.display = cli.NewDisplay(log, terminal, names, p.text, p.writeLine, options...)
	p.begin(phaseOpening)
	return p
}

// begin says that a phase begins. On a terminal, bars say later how far it is.
func (p *display) begin(now phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.phase == now {
		return
	}
	p.phase = now
	p.phases.Begin(steps[now], time.Now())
	switch {
	case !p.terminal:
		p.display.Phase(p.doing())
	case now == phaseOpening:
		p.log.Print("Reading the schemas ...\n")
	}
}

// ended are the phases of the run that has ended.
func (p *display) ended() verdict.Phases {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phases.End(time.Now())
	return p.phases
}

// doing is the phase in words.
func (p *display) doing() string { return string(p.phase) + " " + printable.Names(p.names) }

// quick shows what takes only seconds, before the keys are read.
func (p *display) quick(r *verdict.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	report.NewCheck(r).WriteEarly(&b) // the writer has no error
	p.early = b.String()
	if p.terminal {
		p.showEarly()
	}
}

func (p *display) showEarly() {
	p.log.Print(p.early)
	p.early = ""
}

// report is [rules.Options.Progress].
func (p *display) report(now rules.Progress) {
	i := slices.Index(p.names, now.World)
	if i < 0 {
		return
	}
	p.begin(phaseRows)
	p.mu.Lock()
	p.latest = now
	p.meters[now.World].report(now, time.Now())
	p.all.report(now, time.Now())
	p.mu.Unlock()
	p.display.Show(i, now.WorldRows, now.WorldTotal)
	if now.Again != "" {
		p.display.Say(report.Again(now.World, now.Table, now.Again), "again", true)
	}
}

// rests notes that a database is not read because its server has too much to do.
func (p *display) rests(source string, threads int) {
	i := slices.Index(p.names, source)
	p.mu.Lock()
	m := p.meters[source]
	m.load = threads
	done, total := m.current.WorldRows, m.current.WorldTotal
	p.mu.Unlock()
	p.display.Show(i, done, total) // also before the first row
}

// judges notes that a condition takes long.
func (p *display) judges(source, condition string, took time.Duration) {
	i := slices.Index(p.names, source)
	p.mu.Lock()
	m := p.meters[source]
	m.judging = printable.Text(report.Judging(source, condition, took))
	done, total := m.current.WorldRows, m.current.WorldTotal
	p.mu.Unlock()
	p.display.Show(i, done, total)
}

// text is about one database.
func (p *display) text(i int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meters[p.names[i]].text(time.Now())
}

func (p *display) writeLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.showEarly()
	done, total, line := p.line(time.Now())
	p.log.Say(line, "done", done, "total", total)
}

// line is about all databases together.
func (p *display) line(now time.Time) (done, total int64, line string) {
	var resting string
	for _, name := range p.names {
		m := p.meters[name]
		done += m.current.WorldRows
		total += m.current.WorldTotal
		if m.load > 0 {
			resting += "  " + name + " is " + m.resting()
		}
		if m.judging != "" {
			resting += "  " + m.judging
		}
	}
	if p.latest.Table == "" {
		return done, total, "no rows are read yet: still " + p.doing() + resting
	}
	line = p.all.howFar(done, total, now) + "  " + reading(p.latest) + resting
	if done == p.seen {
		line += "  nothing was read in the last " + cli.LineEvery.String()
	}
	p.seen = done
	return done, total, line
}
