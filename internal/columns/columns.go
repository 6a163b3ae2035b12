// Package columns writes texts in columns as wide as a terminal shows them.
package columns

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// terminal counts columns as a terminal does: two for a Chinese, Japanese or
// Korean character, none for an accent that goes onto another. It does not look
// at the environment, so that a script sees the same everywhere.
var terminal = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many columns of a terminal a text takes.
func Width(text string) int { return terminal.StringWidth(text) }

// Pad adds spaces to a text until it takes that many  A wider text stays
// as it is.
func Pad(text string, width int) string { return terminal.FillRight(text, width) }

// Cut cuts a text to a number of columns, and shows by its end that it did.
func Cut(text string, width int) string { return terminal.Truncate(text, width, "…") }

// Column describes one column.
type Column struct {
	Min   int  // its least width
	Right bool // its texts end below each other, as numbers do
}

// Lines makes a line of each row, every column as wide as its widest text and
// two spaces apart from the next. Columns that are not described begin below
// each other. Nothing in a text may end a line.
func Lines(rows [][]string, described ...Column) []string {
	columns := slices.Clone(described)
	for _, row := range rows {
		for i, text := range row {
			if i == len(columns) {
				columns = append(columns, Column{})
			}
			columns[i].Min = max(columns[i].Min, Width(text))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, text := range row {
			if columns[i].Right {
				text = terminal.FillLeft(text, columns[i].Min)
			}
			b.WriteString(Pad(text, columns[i].Min) + "  ")
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// Write writes rows as [Columns] makes them. A line that is wider than width continues below
// the second column; a width of 0 means no limit.
func Write(w io.Writer, rows [][]string, width int) error {
	first := 0
	for _, row := range rows {
		first = max(first, Width(row[0]))
	}
	var lines []string
	for i, line := range Lines(rows) {
		if width > 0 && Width(line) > width {
			prefix := Pad(rows[i][0], first) + "  "
			lines = append(lines, Wrap(prefix, strings.TrimPrefix(line, prefix), width)...)
		} else {
			lines = append(lines, line)
		}
	}
	_, err := io.WriteString(w, strings.Join(append(lines, ""), "\n"))
	return err
}
