package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/verdict"
)

// textDrift is how many differences of a schema a text has.
const textDrift = 8

// WriteText writes the inventory as text. Where a screen has no room for all columns, those
// that matter least are left out. It returns the error of w.
func (v *Inventory) WriteText(w io.Writer, o TextOptions) error {
	t := newText(o)
	word, color := "INVENTORY", verdict.Pass
	if !v.Complete() {
		word, color = "NOT ALL READ", ""
	}
	t.verdict(word, color, v.summary())
	if len(v.unread) > 0 {
		t.WriteString("\nNOT READ\n")
		for _, world := range v.unread {
			t.wrapped(2, world.Name+"  ", world.Problem)
		}
	}
	t.WriteString("\n")
	lines, left := v.grid(t.width)
	t.lines(0, lines)
	if since := v.since(); since != "" {
		t.line(0, "Since: "+since)
	}
	if len(left) > 0 {
		t.line(0, "Left out to fit the screen: "+strings.Join(left, ", ")+" (-csv has them)")
	}
	v.schemas(t)
	if t.isLong() {
		t.WriteString("\n")
		t.verdict(word, color, v.summary())
	}
	return t.to(w)
}

// grid is the table of the worlds, and which columns had no room.
func (v *Inventory) grid(width int) (lines, left []string) {
	for heads := v.heads(); ; {
		rows := [][]string{slice.Map(heads, func(h head) string { return h.Name })}
		for i := range v.report.Worlds {
			rows = append(rows, slice.Map(heads, func(h head) string { return printable.Text(h.of(&v.report.Worlds[i])) }))
		}
		aligned := slice.Map(heads, func(h head) columns.Column { return columns.Column{Right: h.Number} })
		lines = columns.Lines(rows, aligned...)
		least := slices.MaxFunc(heads, func(a, b head) int { return cmp.Compare(a.Least, b.Least) })
		if width == 0 || slices.Max(slice.Map(lines, columns.Width)) <= width || least.Least == 0 {
			return lines, left
		}
		left = append(left, least.Name)
		heads = slices.DeleteFunc(heads, func(h head) bool { return h.Name == least.Name })
	}
}

// schemas writes which schemas there are, if they differ.
func (v *Inventory) schemas(t *text) {
	if v.drifting == 0 {
		return
	}
	t.WriteString("\nSCHEMAS\n")
	for _, s := range v.grouping {
		who := printable.Names(s.names)
		if s.model {
			who = "most common; others are compared with it"
		}
		t.wrapped(2, fmt.Sprintf("%s  %s  ", s.Fingerprint, s.Engine), printable.Count(int64(s.Worlds), "world", "worlds")+": "+who)
		for i, d := range s.Drift {
			if i == textDrift && len(s.Drift) > textDrift+1 {
				t.line(4, "and "+andMore(int64(len(s.Drift)-i)))
				break
			}
			t.wrapped(4, "", d)
		}
	}
}
