package cli

import (
	"errors"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v3"
	"github.com/vbauerster/mpb/v8/cwriter"
)

// Screen is what the text of a result has to fit. The zero Screen is no
// terminal.
type Screen struct {
	Width int // columns; 0 if it is not known
	Color bool
}

// choiceFlag is a flag that takes one of some words; the first is the default.
func choiceFlag(name, want string, words ...string) cli.Flag {
	return &cli.StringFlag{Name: name, Value: words[0], Validator: func(s string) error {
		if !slices.Contains(words, s) {
			return errors.New(want)
		}
		return nil
	}}
}

// ScreenOf returns the screen that w is. What -color says decides on colours; if it is
// auto, a terminal gets them unless NO_COLOR is set or the terminal is a dumb one.
func ScreenOf(cmd *cli.Command, w io.Writer, env Env) Screen {
	s := Screen{Width: widthOf(w)}
	switch cmd.String("color") {
	case "always":
		s.Color = true
	case "auto":
		noColor, _ := env("NO_COLOR")
		term, _ := env("TERM")
		s.Color = isTerminal(w) && noColor == "" && term != "dumb"
	}
	return s
}

// Width is how many columns the terminal has that the results of a run go to; 0 if they go
// to none.
func Width(cmd *cli.Command) int { return widthOf(ownOf(cmd.Root()).stdout) }

// widthOf is how many columns the terminal has that w is; 0 if w is none, or it does not say.
func widthOf(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	width, _, err := cwriter.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0
	}
	return width
}

// isTerminal reports whether f is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && cwriter.IsTerminal(int(file.Fd()))
}
