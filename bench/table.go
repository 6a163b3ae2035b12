package main

import (
	"fmt"
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
	note     string
}

var columns = [...]string{"what", "measured", "ratio", "middle half", "allocs", "note"}

type cells [len(columns)]string

func (r row) cells() cells {
	return cells{r.what, r.measured, r.ratio, r.spread, r.allocs, r.note}
}

// asMarkdown writes sections as tables of Markdown that people can read too: their columns have the same width.
func asMarkdown(sections []section) string {
	var width [len(columns)]int
	all := cells(columns)
	for _, s := range sections {
		for _, r := range append([]row{{}}, s.rows...) {
			for i, cell := range r.cells() {
				width[i] = max(width[i], utf8.RuneCountInString(cell), len(all[i]))
			}
		}
	}
	line := func(c cells) (text string) {
		for i := range c {
			text += fmt.Sprintf("| %-*s ", width[i], strings.ReplaceAll(c[i], "|", "/"))
		}
		return text + "|\n"
	}
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "\n**%s**\n\n", s.title)
		if s.intro != "" {
			b.WriteString(s.intro + "\n\n")
		}
		b.WriteString(line(all))
		for i := range width {
			b.WriteString("|" + strings.Repeat("-", width[i]+2))
		}
		b.WriteString("|\n")
		for _, r := range s.rows {
			b.WriteString(line(r.cells()))
		}
	}
	return b.String()
}

// compared sets the ratio, which has one value for each round.
func (r row) compared(ratios []float64) row {
	r.ratio = digits(median(ratios))
	r.spread = digits(quantile(ratios, 0.25)) + "-" + digits(quantile(ratios, 0.75))
	return r
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
	case rate >= 1e3:
		return fmt.Sprintf("%.1f k/s", rate/1e3)
	default:
		return fmt.Sprintf("%.0f/s", rate)
	}
}

// allocs writes allocations per operation. What a loop allocates once, and
// what goes on in the background, is less than one in a hundred operations.
func allocs(n float64) string {
	if n < 0.01 {
		return "0"
	}
	return fmt.Sprintf("%.3g", n)
}

// digits writes a ratio with as many digits as mean something.
func digits(ratio float64) string {
	switch {
	case ratio < 0.1:
		return fmt.Sprintf("%.3f", ratio)
	case ratio < 10:
		return fmt.Sprintf("%.2f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}
