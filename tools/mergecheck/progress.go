package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"mergesafe/merge"
)

// progress shows, on a terminal, one line per database: what is being read,
// how many rows were, and how fast. It has no influence on the result. The
// zero progress shows nothing.
type progress struct {
	bars  *mpb.Progress
	lines map[string]*line // by name of the source
}

// line is what is shown of one database. The bars read it while the check
// writes it.
type line struct {
	bar *mpb.Bar

	mu      sync.Mutex
	started time.Time
	current merge.Progress
	before  int64 // rows of what was read earlier
}

// newProgress shows progress on stderr if that is a terminal.
func newProgress(stderr io.Writer, places []place) *progress {
	if !isTerminal(stderr) {
		return &progress{}
	}
	return startProgress(stderr, places)
}

func startProgress(w io.Writer, places []place, options ...mpb.ContainerOption) *progress {
	p := &progress{
		bars:  mpb.New(append([]mpb.ContainerOption{mpb.WithOutput(w)}, options...)...),
		lines: make(map[string]*line),
	}
	for _, place := range places {
		l := &line{started: time.Now()}
		p.lines[place.name] = l
		l.bar = p.bars.New(0, mpb.NopStyle(),
			mpb.PrependDecorators(decor.Name(place.name, decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return l.text(time.Now()) })),
			mpb.BarRemoveOnComplete())
	}
	return p
}

// report is [merge.Options.Progress].
func (p *progress) report(now merge.Progress) {
	if l := p.lines[now.Source]; l != nil {
		l.report(now)
	}
}

func (l *line) report(now merge.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Code != l.current.Code || now.Table != l.current.Table || now.Rows < l.current.Rows {
		l.before += l.current.Rows
	}
	l.current = now
}

// text is, for example, "players, key-collision: 12.5 M rows, 3400 k/s".
func (l *line) text(now time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current.Table == "" {
		return "waiting"
	}
	total := l.before + l.current.Rows
	rate := float64(total) / max(now.Sub(l.started).Seconds(), 0.001)
	return fmt.Sprintf("%s, %s: %s rows, %s/s", l.current.Table, l.current.Code, short(float64(total)), short(rate))
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

// stop takes the lines off the screen.
func (p *progress) stop() {
	if p.bars == nil {
		return
	}
	for _, l := range p.lines {
		l.bar.Abort(true)
	}
	p.bars.Wait()
}
