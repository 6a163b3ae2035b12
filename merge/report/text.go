package report

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/verdict"
)

// TextOptions configure the text of a report. The zero value is plain text.
type TextOptions struct {
	Width int  // columns of the terminal, less than 40 is 40; 0: 100 for a check, and no limit for a plan
	Color bool // mark the verdicts with ANSI colours
}

// text is a text being written. Characters that could disturb a terminal are
// escaped. A line may begin with a byte that says how it is shown: see the constants
// below.
type text struct {
	bytes.Buffer
	width int // 0: no limit
	color bool
}

// How a line is shown.
const (
	asItIs = 1 + iota // never wrapped, so that it can be pasted
	good              // with its first words, up to two spaces, in a colour
	unsure
	bad
)

var colors = map[byte]string{good: "32", unsure: "33", bad: "31"}

func newText(o TextOptions) *text {
	if o.Width > 0 {
		o.Width = max(o.Width, 40)
	}
	return &text{width: o.Width, color: o.Color}
}

// newCheckText is newText for a report of a check, which has a width also where
// there is no terminal.
func newCheckText(o TextOptions) *text {
	o.Width = cmp.Or(o.Width, 100)
	return newText(o)
}

// to writes the text to w. It returns the error of w.
func (t *text) to(w io.Writer) error {
	var b strings.Builder
	for line := range strings.Lines(t.String()) {
		line = strings.TrimSuffix(line, "\n")
		how := byte(0)
		if line != "" && line[0] <= bad {
			how, line = line[0], line[1:]
		}
		lines := []string{line}
		if how != asItIs && t.width > 0 && columns.Width(line) > t.width {
			lines = columns.Wrap(prefix(line, how), strings.TrimPrefix(line, prefix(line, how)), t.width)
		}
		if color := colors[how]; color != "" && t.color {
			word, rest, _ := strings.Cut(lines[0]+"  ", "  ")
			lines[0] = strings.TrimRight("\x1b[1;"+color+"m"+word+"\x1b[0m  "+rest, " ")
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// prefix is what stands before the words of a line, under which its next line is indented: spaces, or
// the words in a colour.
func prefix(line string, how byte) string {
	if word, _, found := strings.Cut(line, "  "); found && colors[how] != "" {
		return word + "  "
	}
	return line[:len(line)-len(strings.TrimLeft(line, " "))]
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

// verbatim writes lines to paste.
func (t *text) verbatim(indent int, all []string) {
	for _, s := range all {
		t.WriteByte(asItIs)
		t.line(indent, s)
	}
}

// wrapped writes words over as many lines as they need; first stands at the
// beginning of the first one.
func (t *text) wrapped(indent int, first, s string) {
	words := strings.Join(strings.Fields(printable.Text(s)), " ")
	t.WriteString(strings.Join(columns.Wrap(strings.Repeat(" ", indent)+printable.Text(first), words, t.width), "\n") + "\n")
}

// verdict writes a line that begins with a verdict, or another word in its colour.
func (t *text) verdict(word string, color verdict.Verdict, sentence string) {
	t.WriteByte(cmp.Or(map[verdict.Verdict]byte{verdict.Pass: good, verdict.Fail: bad}[color], unsure))
	t.line(0, word+"  "+sentence)
}

func (t *text) heading(v verdict.Verdict, rest string) {
	t.WriteString("\n")
	t.verdict(string(v), v, rest)
}

// long is from how many lines on a text has its verdict at the end as well: so many are
// seen at once.
const long = 12

// isLong reports whether the beginning may be out of sight.
func (t *text) isLong() bool { return bytes.Count(t.Bytes(), []byte("\n")) > long }

// downwards writes short entries in as many columns as there is room for, to be
// read downwards.
func (t *text) downwards(indent int, entries []string) {
	width := slices.Max(slice.Map(entries, columns.Width)) + 3
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
