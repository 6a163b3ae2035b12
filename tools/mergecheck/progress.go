package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

// progress shows on stderr how far a check has come: first what takes only
// seconds to find out, then a bar for every database. Where stderr is no
// terminal nothing is shown for the first lineEvery, and a line of all
// databases together from then on. It has no influence on the result.
type progress struct {
	w         io.Writer
	terminal  bool
	options   []mpb.ContainerOption
	names     []string
	stopLines func() // nil on a terminal

	mu     sync.Mutex
	meters map[string]*meter // by name of the source
	latest merge.Progress
	early  string // what was found first, while it is not yet shown
	seen   int64  // rows that the last line told of

	bars  *mpb.Progress // nil until rows are read
	lines []*mpb.Bar    // in the order of names
}

const lineEvery = 30 * time.Second

func newProgress(w io.Writer, terminal bool, names []string, options ...mpb.ContainerOption) *progress {
	p := &progress{
		w: w, terminal: terminal, options: options, names: names, meters: make(map[string]*meter),
	}
	for _, name := range names {
		p.meters[name] = new(meter)
	}
	if terminal {
		io.WriteString(w, "Reading the schemas and counting the rows ...\n")
	} else {
		p.stopLines = cli.Every(lineEvery, p.writeLine)
	}
	return p
}

// quick is [merge.Options.Quick].
func (p *progress) quick(r *merge.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early = early(r)
	if p.terminal {
		p.showEarly()
	}
}

func (p *progress) showEarly() {
	io.WriteString(p.w, p.early)
	p.early = ""
}

// report is [merge.Options.Progress].
func (p *progress) report(now merge.Progress) {
	i := slices.Index(p.names, now.Source)
	if i < 0 {
		return
	}
	p.mu.Lock()
	p.latest = now
	p.meters[now.Source].report(now, time.Now())
	p.mu.Unlock()
	if !p.terminal {
		return
	}
	// Without the lock: the bars take it themselves.
	if p.bars == nil {
		p.startBars()
	}
	p.lines[i].SetTotal(max(now.SourceTotal, 1), false)
	p.lines[i].SetCurrent(now.SourceRows)
}

// rests notes that a database is not read because its server has too much to do.
func (p *progress) rests(source string, threads int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.meters[source].load = threads
}

func (p *progress) startBars() {
	p.bars = mpb.New(append([]mpb.ContainerOption{mpb.WithOutput(p.w)}, p.options...)...)
	for _, name := range p.names {
		m := p.meters[name]
		p.lines = append(p.lines, p.bars.New(0, mpb.BarStyle(),
			mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
				p.mu.Lock()
				defer p.mu.Unlock()
				return m.text(time.Now())
			})),
			mpb.BarWidth(14), mpb.BarRemoveOnComplete()))
	}
}

// writeLine is called now and then where there is no terminal.
func (p *progress) writeLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.showEarly()
	fmt.Fprintln(p.w, "mergecheck:", p.line(time.Now()))
}

// line is about all databases together.
func (p *progress) line(now time.Time) string {
	var done, total int64
	var rate float64
	var resting string
	for _, name := range p.names {
		m := p.meters[name]
		done += m.current.SourceRows
		total += m.current.SourceTotal
		rate += m.rate(now)
		if m.load > 0 {
			resting += "  " + name + " is " + m.resting()
		}
	}
	if p.latest.Table == "" {
		return "no rows are read yet" + resting
	}
	line := printable.HowFar(done, total, rate) + "  " + reading(p.latest) + resting
	if done == p.seen {
		line += "  nothing was read in the last " + lineEvery.String()
	}
	p.seen = done
	return line
}

// stop takes the bars off the screen, and ends the lines.
func (p *progress) stop() {
	if p.stopLines != nil {
		p.stopLines()
	}
	if p.bars == nil {
		return
	}
	for _, l := range p.lines {
		l.Abort(true)
	}
	p.bars.Wait()
}
