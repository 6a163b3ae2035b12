package cli

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8/cwriter"
)

// Screen is what the text of a result has to fit. The zero Screen is no
// terminal.
type Screen struct {
	Width int // columns; 0 if nobody knows
	Color bool
}

// ScreenOf returns the screen that w is. Colours are left out where NO_COLOR
// is set, whatever its value, or the terminal is a dumb one.
func ScreenOf(w io.Writer, env Env) Screen {
	if !IsTerminal(w) {
		return Screen{}
	}
	_, noColor := env("NO_COLOR")
	term, _ := env("TERM")
	s := Screen{Color: !noColor && term != "dumb"}
	if width, _, err := cwriter.GetSize(int(w.(*os.File).Fd())); err == nil {
		s.Width = width
	}
	return s
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && cwriter.IsTerminal(int(f.Fd()))
}
