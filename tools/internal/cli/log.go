package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/columns"

	"github.com/urfave/cli/v3"
)

// LineEvery is how often a long operation gets a line if there is no terminal to show its
// progress on.
const LineEvery = 30 * time.Second

// Log takes the messages of a tool that are not results, such as progress and errors. It
// writes them to stderr: as lines for people, which begin with the tool's name, or with -log
// json as objects for programs.
type Log struct {
	mu   sync.Mutex
	w    io.Writer
	name string
	each time.Duration // between lines about what does not answer
	json *slog.Logger  // nil for lines
	mask *mask         // what no message shows; nil for nothing
}

// WaitingLinesEvery makes the lines about what does not answer come more often, for tests.
func WaitingLinesEvery(root *cli.Command, t time.Duration) { ownOf(root).waitingEvery = t }

// NewLog returns the log of a tool.
func NewLog(w io.Writer, name string, json bool) *Log {
	l := &Log{w: w, name: name, each: LineEvery}
	if json {
		l.json = slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: utc})).With("program", name)
	}
	return l
}

// utc writes times as all documents do.
func utc(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime {
		a.Value = slog.TimeValue(a.Value.Time().UTC().Truncate(time.Millisecond))
	}
	return a
}

// ShowsBars reports whether a bar can be shown: on a terminal that says how wide it is. All others get lines.
func (l *Log) ShowsBars() bool { return l.json == nil && widthOf(l.w) > 0 }

// Say writes a sentence, in JSON with fields: pairs of a key and a value.
func (l *Log) Say(text string, fields ...any) {
	text = l.mask.Text(text)
	if l.json != nil {
		l.json.Info(text, fields...)
		return
	}
	l.line(l.name+": ", text)
}

// Sayf is [Log.Say] without fields.
func (l *Log) Sayf(format string, args ...any) { l.Say(fmt.Sprintf(format, args...)) }

// Print writes lines for people as they are.
func (l *Log) Print(text string) {
	text = l.mask.Text(text)
	if l.json != nil {
		if text != "" {
			l.json.Info(strings.TrimSpace(text))
		}
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.w, text)
}

// line writes a line, or as many as it takes on a terminal.
func (l *Log) line(prefix, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if width := widthOf(l.w); width > 0 {
		text = strings.Join(columns.Wrap("", prefix+text, width), "\n")
	} else {
		text = prefix + text
	}
	io.WriteString(l.w, text+"\n")
}

// fail writes the error that the tool ends with, with what to do about it.
func (l *Log) fail(text string, hints []string, code Code) {
	text = l.mask.Text(text)
	if l.json != nil {
		l.json.Error(strings.TrimPrefix(text, l.name+": "), "hint", l.mask.Text(strings.Join(hints, " ")), "exit_code", int(code))
		return
	}
	l.line("", text)
	for _, hint := range hints {
		l.Print(hint + "\n") // it may have a command to paste, which must stay on one line
	}
}

// Waiting reports every [LineEvery] that the request named what is still without an answer,
// until stop is called.
func (l *Log) Waiting(ctx context.Context, what string) (stop func()) {
	began := time.Now()
	return Every(l.each, func() {
		if ctx.Err() == nil {
			took := time.Since(began).Round(min(l.each, time.Second))
			l.Say(fmt.Sprintf("%s: no answer for %s", what, took), "seconds", took.Seconds())
		}
	})
}
