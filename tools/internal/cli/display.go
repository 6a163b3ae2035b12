package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Display shows how far work has come: on a terminal by a bar for each part of
// it, which is removed at the end, elsewhere by a line at the beginning of each phase and
// every LineEvery.
type Display struct {
	log       *Log
	names     []string
	text      func(part int) string
	options   []mpb.ContainerOption
	stopLines func() // nil on a terminal

	mu   sync.Mutex
	all  *mpb.Progress // nil until there is something to show
	bars []*mpb.Bar    // in the order of names
}

// NewDisplay returns the display of work with so many parts; the name of a part,
// if it has one, stands before its bar. text is what stands behind the bar: it is
// called by another goroutine. line says in the log how far all of it is.
func NewDisplay(log *Log, terminal bool, names []string, text func(part int) string, line func(), options ...mpb.ContainerOption) *Display {
	d := &Display{log: log, names: names, text: text, options: options}
	if !terminal {
		d.stopLines = Every(LineEvery, line)
	}
	return d
}

// Phase says that a phase begins. On a terminal the bars say it.
func (d *Display) Phase(text string) {
	if d.stopLines != nil {
		d.log.Say(text, "phase", true)
	}
}

// Say writes a sentence: above the bars, if there are some.
func (d *Display) Say(text string, fields ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.log.Say(text, fields...)
		return
	}
	fmt.Fprintf(d.all, "%s: %s\n", d.log.name, d.log.mask.Text(text))
}

// Show brings a bar up to date. The caller holds no lock that text takes.
func (d *Display) Show(part int, done, total int64) {
	if d.stopLines != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all == nil {
		d.start()
	}
	d.bars[part].SetTotal(max(total, 1), false)
	d.bars[part].SetCurrent(done)
}

func (d *Display) start() {
	d.all = mpb.New(append([]mpb.ContainerOption{mpb.WithOutput(d.log.w)}, d.options...)...)
	for i, name := range d.names {
		options := []mpb.BarOption{mpb.BarWidth(14), mpb.BarRemoveOnComplete(),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return d.text(i) }))}
		if name != "" {
			options = append(options, mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR)))
		}
		d.bars = append(d.bars, d.all.New(0, mpb.BarStyle(), options...))
	}
}

// Stop removes the bars, and ends the lines. It is called once.
func (d *Display) Stop() {
	if d.stopLines != nil {
		d.stopLines()
	}
	if d.all == nil {
		return
	}
	for _, b := range d.bars {
		b.Abort(true)
	}
	d.all.Wait()
}

// Every calls f again and again, until stop. When stop returns, f does not run
// any more.
func Every(t time.Duration, f func()) (stop func()) {
	ended, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(t)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() {
		close(ended)
		<-finished
	}
}
