package main

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"

	"mergesafe/tools/internal/cli"
)

// screen is what the text of a report has to fit. The zero screen is no
// terminal.
type screen struct {
	width int
	color bool
}

// screenOf returns the screen that w is. Colours are left out where NO_COLOR
// is set, whatever its value, or the terminal is a dumb one.
func screenOf(w io.Writer, env cli.Env) screen {
	if !isTerminal(w) {
		return screen{}
	}
	_, noColor := env("NO_COLOR")
	term, _ := env("TERM")
	s := screen{color: !noColor && term != "dumb"}
	if width, _, err := cwriter.GetSize(int(w.(*os.File).Fd())); err == nil {
		s.width = width
	}
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}
