package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// section is a part of the table.
type section struct {
	title string
	intro string // one sentence that says how to read it; may be empty
	rows  []row
}

// row is one line of the table. What is empty was not measured or not asked.
type row struct {
	what     string
	measured string
	ratio    string // the median over the rounds
	spread   string // the middle half of the rounds
	allocs   string
	goal     string
	holds    string
	note     string
}

var columns = [...]string{"what", "measured", "ratio", "middle half", "allocs", "goal", "holds", "note"}

// firstOfText is the first column that is not a number, other than column 0.
const firstOfText = 5

func (r row) cells() [len(columns)]string {
	return [...]string{r.what, r.measured, r.ratio, r.spread, r.allocs, r.goal, r.holds, r.note}
}

// verdict is "yes" or "no", in a row of ours.
func verdict(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

// writeText writes the table for a terminal: all sections in columns of the
// same width.
func writeText(w io.Writer, sections []section) error {
	var width [len(columns)]int
	fit := func(cells [len(columns)]string) {
		for i, cell := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	fit(columns)
	for _, s := range sections {
		for _, r := range s.rows {
			fit(r.cells())
		}
	}
	var b strings.Builder
	line := func(cells [len(columns)]string) {
		var l strings.Builder
		for i, cell := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i > 0 && i < firstOfText {
				l.WriteString(pad + cell + "  ")
			} else {
				l.WriteString(cell + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		if s.intro != "" {
			fmt.Fprintf(&b, "%s\n", s.intro)
		}
		line(columns)
		for _, r := range s.rows {
			line(r.cells())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeMarkdown writes the same for a README.
func writeMarkdown(w io.Writer, sections []section) error {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;").Replace
	for _, s := range sections {
		fmt.Fprintf(&b, "\n**%s**\n\n", escape(s.title))
		if s.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", escape(s.intro))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(columns[:], " | "))
		for i := range columns {
			if i > 0 && i < firstOfText {
				b.WriteString("|--:")
			} else {
				b.WriteString("|---")
			}
		}
		b.WriteString("|\n")
		for _, r := range s.rows {
			cells := r.cells()
			for i := range cells {
				cells[i] = escape(cells[i])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells[:], " | "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nanos writes a duration of one operation.
func nanos(ns float64) string {
	switch {
	case ns < 10:
		return fmt.Sprintf("%.2f ns", ns)
	case ns < 10_000:
		return fmt.Sprintf("%.1f ns", ns)
	}
	return fmt.Sprintf("%.1f µs", ns/1000)
}

// perSecond writes how many operations of so many nanoseconds fit a second.
func perSecond(ns float64) string {
	switch rate := 1e9 / ns; {
	case rate >= 1e6:
		return fmt.Sprintf("%.2f M/s", rate/1e6)
	case rate >= 1e4:
		return fmt.Sprintf("%.0f k/s", rate/1e3)
	default:
		return fmt.Sprintf("%.1f k/s", rate/1e3)
	}
}

// count writes a whole number with its thousands apart.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
