package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
)

// WriteExplanation writes the description of a column as text of 80 columns. It returns
// the error of w.
func WriteExplanation(w io.Writer, e *propose.Explanation) error {
	t := newText(TextOptions{Width: 80})
	t.wrapped(0, e.Table+"."+e.Column+"  ", e.Class)
	t.wrapped(2, "rows of the table: ", e.Rows)
	t.WriteString("\nWhat the rules say\n")
	if len(e.Said) == 0 {
		t.line(2, "nothing")
	}
	for _, s := range e.Said {
		t.wrapped(2, saidWhere(s)+"  ", saidText(s))
	}
	t.WriteString("\nWhat it seems to be, judging by this table and the keys of all others\n")
	for _, p := range e.Proposed {
		t.wrapped(2, "", proposedText(p))
		t.candidates(p.Candidates)
		t.kinds(p.Kinds)
	}
	if e.NotProposed != "" {
		t.wrapped(2, "", e.NotProposed)
	}
	for _, v := range e.Values {
		t.WriteString("\n")
		t.values(v)
	}
	return t.to(w)
}

// saidWhere is where a statement is: "rules.toml:12".
func saidWhere(s propose.Said) string {
	where := cmp.Or(s.File, "an option")
	if s.Line > 0 {
		where += ":" + strconv.Itoa(s.Line)
	}
	return where
}

func saidText(s propose.Said) string {
	text := s.Text
	if s.Kind == "reference" {
		text += ", at " + strconv.Quote(s.Pattern)
	}
	if !s.Counts {
		text += " (does not count: " + s.Why + ")"
	}
	return text
}

func proposedText(p verdict.ProposedColumn) string {
	text := string(p.Class)
	if p.To != "" {
		text += " to " + p.To
	}
	if p.When != nil {
		text += " when " + p.When.String()
	}
	if len(p.None) > 0 {
		text += ", none: " + strings.Join(p.None, ", ")
	}
	text += ": " + p.Evidence
	if !p.Declared && p.Doubt > 0 {
		text += fmt.Sprintf(" (doubt %.2f)", p.Doubt)
	}
	return text
}

// candidates writes what speaks for each key that a column may name.
func (t *text) candidates(all []verdict.Candidate) {
	if len(all) == 0 {
		return
	}
	rows := [][]string{{"it may name", "matched", "misses", "of another", "gaps", "name", "types"}}
	for _, c := range all {
		about := ""
		if c.About {
			about = "about "
		}
		rows = append(rows, []string{printable.Text(c.Key), about + printable.Number(c.Matched), about + printable.Number(c.Misses()), printable.Number(c.Elsewhere), c.Gaps, c.Name, c.Types})
	}
	right := columns.Column{Right: true}
	t.lines(4, columns.Lines(rows, columns.Column{}, right, right, right))
}

// kinds writes what a column names by the value of another column.
func (t *text) kinds(k *verdict.Kinds) {
	if k == nil {
		return
	}
	rows := [][]string{{printable.Text(k.By), "rows", "a key", "no key", "a key elsewhere", ""}}
	for _, g := range k.Groups {
		seems := ""
		if slices.Contains(k.Other, g.Value) {
			hits := slice.Map(g.Keys, func(h verdict.KeyHits) string {
				return fmt.Sprintf("%s %d of %d values", printable.Text(h.Key), h.Hits, h.Values)
			})
			seems = cmp.Or(printable.Text(g.Names), "something else") + ": " + cmp.Or(strings.Join(hits, ", "), "no key of another table")
		}
		value := quotedText(printable.Text(g.Value))
		if g.Null {
			value = g.Value
		}
		rows = append(rows, []string{value, printable.Number(g.Rows), printable.Number(g.Own), printable.Number(g.Rows - g.Own), printable.Number(g.Elsewhere), seems})
	}
	right := columns.Column{Right: true}
	t.lines(4, columns.Lines(rows, columns.Column{}, right, right, right, right))
}

// values writes what a column of a database holds.
func (t *text) values(v propose.ValuesOf) {
	if v.Unread != "" {
		t.wrapped(0, printable.Text(v.World)+"  ", v.Type+": could not be read: "+v.Unread)
		return
	}
	distinct := printable.Number(v.Distinct) + " distinct"
	if v.More {
		distinct = "more than " + distinct
	}
	t.wrapped(0, printable.Text(v.World)+"  ", fmt.Sprintf("%s: %s, %s NULL, %s", v.Type, printable.Count(v.Rows, "row", "rows"), printable.Number(v.Nulls), distinct))
	if v.Distinct > 0 {
		t.wrapped(2, "from ", quotedText(v.Smallest)+" to "+quotedText(v.Largest))
	}
	frequent := slice.Map(v.Frequent, func(c propose.ValueCount) string {
		return quotedText(c.Value) + " in " + printable.Count(c.Rows, "row", "rows")
	})
	if len(frequent) > 0 {
		first := "most frequent: "
		if v.More {
			first = fmt.Sprintf("most frequent of the first %s values: ", printable.Number(v.Distinct))
		}
		t.wrapped(2, first, strings.Join(frequent, ", "))
	}
	samples := slice.Map(v.Samples, quotedText)
	if len(samples) > 0 {
		t.wrapped(2, "others: ", strings.Join(samples, ", "))
	}
}

// quotedText is a value, in quotes if it might be taken for something else.
func quotedText(s string) string {
	if s != `""` && strings.ContainsAny(s, " ,\"") {
		return strconv.Quote(s)
	}
	return s
}
