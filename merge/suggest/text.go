package suggest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/inventory"
)

// WriteText writes the suggestion for people, in lines of at most so many columns; 0 means 100.
func (s *Suggestion) WriteText(w io.Writer, width int) error {
	t := &text{width: max(cmp.Or(width, 100), 40)}
	t.line("", s.Verdict())
	t.line("", "")
	t.line("", fmt.Sprintf("The inventory is from %s. Active players are those of the last 7 days.", printable.Time(s.Inventory)))
	t.line("", s.Method)
	if len(s.Merges) > 0 {
		t.numbers(s)
		t.line("", "")
		t.line("", "The merges in the order in which they begin, longest first:")
		for i, m := range s.Merges {
			t.line("", "")
			t.merge(i+1, m)
		}
	}
	t.left(s.Stay, "stays as it is", "stay as they are")
	t.left(s.Left, "cannot be merged as it is", "cannot be merged as they are")
	if t.lines > 12 {
		t.line("", "")
		t.line("", s.Verdict())
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// Verdict is the suggestion in a sentence or two.
func (s *Suggestion) Verdict() string {
	worlds := printable.Count(int64(s.Worlds), "world", "worlds")
	if len(s.Merges) == 0 {
		return "NOTHING TO MERGE  Of " + worlds + ", no two can be merged within these limits."
	}
	return fmt.Sprintf("SUGGESTED  %s: %s become %s.", printable.Count(int64(len(s.Merges)), "merge", "merges"),
		worlds, printable.Number(int64(s.Become)))
}

// text is lines of a text that are written one after the other.
type text struct {
	strings.Builder
	width, lines int
}

// line writes a text over as many lines as it needs, below each other behind the prefix.
func (t *text) line(prefix, s string) {
	for _, line := range columns.Wrap(prefix, printable.Text(s), t.width) {
		t.WriteString(strings.TrimRight(line, " ") + "\n")
		t.lines++
	}
}

func (t *text) numbers(s *Suggestion) {
	t.line("", "")
	rows := [][]string{{"active players of a world", "fewest", "middle", "most"}}
	for i, e := range []Ends{s.Before, s.After} {
		rows = append(rows, []string{[]string{"before", "after"}[i], printable.Number(e.Least), printable.Number(e.Middle), printable.Number(e.Most)})
	}
	for _, line := range columns.Lines(rows, columns.Column{}, columns.Column{Right: true}, columns.Column{Right: true}, columns.Column{Right: true}) {
		t.line("", line)
	}
	t.line("", "")
	t.line("", fmt.Sprintf("%s are copied. All merges take %s, %d at a time, at %s to %s rows a second.",
		printable.Count(s.Moved, "row", "rows"), printable.Span(s.Seconds), s.Wishes.Parallel,
		printable.Number(s.Wishes.Rate.Slowest), printable.Number(s.Wishes.Rate.Fastest)))
}

func (t *text) merge(number int, m Merge) {
	t.line(fmt.Sprintf("%3d  ", number), strings.Join(m.Worlds, ", "))
	for _, s := range m.reasons() {
		t.line("       ", s)
	}
}

// left writes which worlds are in no merge, those of one reason together.
func (t *text) left(all []LeftOut, one, many string) {
	if len(all) == 0 {
		return
	}
	var groups [][]LeftOut
	for _, group := range slice.Groups(all, func(l LeftOut) string { return l.Reason }) {
		groups = append(groups, group)
	}
	slices.SortStableFunc(groups, func(a, b []LeftOut) int { return cmp.Compare(len(b), len(a)) })
	t.line("", "")
	t.line("", printable.Count(int64(len(all)), "world "+one, "worlds "+many)+":")
	for _, group := range groups {
		worlds := slice.Map(group, func(l LeftOut) string { return l.World })
		t.line("  ", strings.Join(worlds, ", ")+": "+group[0].Reason)
	}
}

// reasons are the reasons and numbers of a merge, in short sentences.
func (m Merge) reasons() []string {
	before := slice.Map(m.Before, printable.Number)
	if len(before) > 9 { // too many to be read
		before = []string{before[0], fmt.Sprintf("%s of %d worlds", printable.Number(m.After-m.Before[0]), len(m.Worlds)-1)}
	}
	all := []string{
		fmt.Sprintf("active players: %s = %s", strings.Join(before, " + "), printable.Number(m.After)),
		fmt.Sprintf("%s, %sB, %s", printable.Count(m.Rows, "row comes", "rows come"), printable.Short(float64(m.Bytes)), printable.Span(m.Seconds)),
		fmt.Sprintf("first %s: %s", m.Worlds[0], m.Why),
	}
	for _, o := range m.Names {
		all = append(all, "names in "+shared(o, fmt.Sprintf(", so %s to change", printable.Count(o.Extra, "has", "have"))))
	}
	if m.Accounts != nil {
		all = append(all, "accounts in "+shared(*m.Accounts, ""))
	}
	return append(all, m.Notes...)
}

func shared(o inventory.Overlap, extra string) string {
	if o.Problem != "" {
		return o.Column + ": not counted: " + o.Problem
	}
	if o.Shared == 0 {
		extra = ""
	}
	are := "are"
	if o.Shared == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s: %s of %s %s on several worlds%s", o.Column, printable.Number(o.Shared), printable.Number(o.Values), are, extra)
}
