package cli

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// terminal counts columns as a terminal does: two for a Chinese, Japanese or
// Korean character, none for an accent that goes onto another. It does not look
// at the environment, so that a script sees the same everywhere.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns of a terminal the widest of some texts takes.
func Width(texts ...string) (most int) {
	for _, t := range texts {
		most = max(most, terminal.StringWidth(t))
	}
	return most
}

// Pad puts spaces after a text until it takes so many columns. What is wider
// stays as it is.
func Pad(text string, width int) string { return terminal.FillRight(text, width) }

// WriteColumns writes rows of texts one below the other, every column as wide as
// its widest text and two spaces apart from the next. Nothing in a text ends a
// line.
func WriteColumns(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(text))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, text := range row {
			line += Pad(text, widths[i]) + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
