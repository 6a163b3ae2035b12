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
	goal     string
	holds    string
	note     string
}

var columns = [...]string{"what", "measured", "ratio", "middle half", "allocs", "goal", "holds", "note"}

type cells [len(columns)]string

// isNumber says which columns are aligned on the right.
func isNumber(column int) bool { return 1 <= column && column <= 4 }

func (r row) cells() cells {
	return cells{r.what, r.measured, r.ratio, r.spread, r.allocs, r.goal, r.holds, r.note}
}

// verdict is "yes" or "no", in a row of ours.
func verdict(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

// form is a way to write the table.
type form struct {
	title, intro string // formats
	line         func(cells) string
	rule         string // below the names of the columns
	escape       func(string) string
}

func (f form) write(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, f.title, f.escape(s.title))
		if s.intro != "" {
			fmt.Fprintf(&b, f.intro, f.escape(s.intro))
		}
		b.WriteString(f.line(columns) + f.rule)
		for _, r := range s.rows {
			b.WriteString(f.line(r.cells()))
		}
	}
	return b.String()
}

// asText is the table for a terminal: all sections in columns of the same
// width.
func asText(sections []section) string {
	var width [len(columns)]int
	for i, name := range columns {
		width[i] = len(name)
		for _, s := range sections {
			for _, r := range s.rows {
				width[i] = max(width[i], utf8.RuneCountInString(r.cells()[i]))
			}
		}
		if !isNumber(i) {
			width[i] = -width[i] // which package fmt aligns on the left
		}
	}
	line := func(c cells) string {
		var l string
		for i := range c {
			l += fmt.Sprintf("%*s  ", width[i], c[i])
		}
		return strings.TrimRight(l, " ") + "\n"
	}
	return form{title: "\n%s\n", intro: "%s\n", line: line, escape: strings.Clone}.write(sections)
}

// asMarkdown is the same for a README.
func asMarkdown(sections []section) string {
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;").Replace
	line := func(c cells) string {
		for i := range c {
			c[i] = escape(c[i])
		}
		return "| " + strings.Join(c[:], " | ") + " |\n"
	}
	rule := "|---|--:|--:|--:|--:|---|---|---|\n"
	return form{title: "\n**%s**\n\n", intro: "%s\n\n", line: line, rule: rule, escape: escape}.write(sections)
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

// count writes a whole number with its thousands apart.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
