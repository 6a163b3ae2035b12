package report

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// TextOptions configure the text of a report. The zero value is plain text of 100
// columns.
type TextOptions struct {
	Width int  // columns of the terminal; 0 is 100, and less than 60 is 60
	Color bool // mark the verdicts with ANSI colours
}

// text is a text being written. Characters that could disturb a terminal are
// escaped.
type text struct {
	bytes.Buffer
	width int
	color bool
}

func newText(o TextOptions) *text {
	return &text{width: max(cmp.Or(o.Width, 100), 60), color: o.Color}
}

// to writes the text to w. It returns the error of w.
func (t *text) to(w io.Writer) error {
	_, err := w.Write(t.Bytes())
	return err
}

// line writes one line of plain words.
func (t *text) line(indent int, s string) {
	t.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+printable.Text(s), " ") + "\n")
}

// lines writes lines of plain words.
func (t *text) lines(indent int, all []string) {
	for _, s := range all {
		t.line(indent, s)
	}
}

// wrapped writes words over as many lines as they need; first stands at the
// beginning of the first one.
func (t *text) wrapped(indent int, first, s string) {
	prefix := strings.Repeat(" ", indent) + printable.Text(first)
	hang := strings.Repeat(" ", columns.Width(prefix))
	line := prefix
	for i, word := range strings.Fields(printable.Text(s)) {
		switch {
		case i == 0:
		case columns.Width(line)+1+columns.Width(word) > t.width:
			t.WriteString(line + "\n")
			line = hang
		default:
			line += " "
		}
		line += word
	}
	t.WriteString(line + "\n")
}

// mark is a verdict, in colour if colour is on.
func (t *text) mark(v merge.Verdict) string {
	if !t.color {
		return string(v)
	}
	color := map[merge.Verdict]string{merge.Pass: "32", merge.NotVerified: "33", merge.Fail: "31"}[v]
	return "\x1b[1;" + color + "m" + string(v) + "\x1b[0m"
}

func (t *text) heading(v merge.Verdict, rest string) {
	t.WriteString("\n" + t.mark(v) + "  " + printable.Text(rest) + "\n")
}

// downwards writes short entries in as many columns as there is room for, to be
// read downwards.
func (t *text) downwards(indent int, entries []string) {
	width := 0
	for _, e := range entries {
		width = max(width, columns.Width(e)+3)
	}
	n := max(1, (t.width-indent)/width)
	height := (len(entries) + n - 1) / n
	for row := range height {
		line := ""
		for i := row; i < len(entries); i += height {
			line += columns.Pad(entries[i], width)
		}
		t.line(indent, line)
	}
}

// some writes the first entries of n, and the number of the others.
func (t *text) some(n, most int, rest func(n int64) string, write func(i int)) {
	for i := range min(n, most) {
		write(i)
	}
	if n > most {
		t.line(2, "and "+rest(int64(n-most)))
	}
}

// inJSON is the rest of a list that the JSON form has in full.
func inJSON(n int64) string { return printable.Number(n) + " more in the JSON form of this report" }

// andMore is the rest of any other list.
func andMore(n int64) string { return printable.Number(n) + " more" }
