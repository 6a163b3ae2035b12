package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
)

// textDrift is how many differences of a schema a text has.
const textDrift = 8

// WriteText writes the inventory as text. Where a screen has no room for all columns, those
// that matter least are left out. It returns the error of w.
func (v *Inventory) WriteText(w io.Writer, o TextOptions) error {
	t := newText(o)
	t.verdict(v.Word, v.Color, v.summary())
	if v.Report.Problem != "" {
		t.line(0, "Ranges are not known: "+v.Report.Problem)
	}
	if len(v.Unread) > 0 {
		t.WriteString("\nNOT READ\n")
		for _, world := range v.Unread {
			t.wrapped(2, world.Name+"  ", world.Problem)
		}
	}
	t.WriteString("\n")
	lines, left := v.grid(t.width)
	t.lines(0, lines)
	if since := v.Since(); since != "" {
		t.line(0, "Since: "+since)
	}
	if len(left) > 0 {
		t.line(0, "Left out for want of room: "+strings.Join(left, ", ")+" (-csv and -html have them)")
	}
	v.schemas(t)
	if t.isLong() {
		t.WriteString("\n")
		t.verdict(v.Word, v.Color, v.summary())
	}
	return t.to(w)
}

// grid is the table of the worlds, and which columns had no room.
func (v *Inventory) grid(width int) (lines, left []string) {
	for heads := v.Heads(); ; {
		var rows [][]string
		described := make([]columns.Column, len(heads))
		row := make([]string, len(heads))
		for i, h := range heads {
			described[i].Right = h.Number
			row[i] = h.Name
		}
		rows = append(rows, row)
		for i := range v.Report.Worlds {
			row := make([]string, len(heads))
			for k, h := range heads {
				row[k] = printable.Text(h.of(&v.Report.Worlds[i]))
			}
			rows = append(rows, row)
		}
		lines = columns.Lines(rows, described...)
		widest := slices.MaxFunc(lines, func(a, b string) int { return cmp.Compare(columns.Width(a), columns.Width(b)) })
		least := 0
		for i, h := range heads {
			if h.Least > heads[least].Least {
				least = i
			}
		}
		if width == 0 || columns.Width(widest) <= width || heads[least].Least == 0 {
			return lines, left
		}
		left = append(left, heads[least].Name)
		heads = slices.Delete(heads, least, least+1)
	}
}

// schemas writes which schemas there are, if they differ.
func (v *Inventory) schemas(t *text) {
	if v.drifting == 0 {
		return
	}
	t.WriteString("\nSCHEMAS\n")
	for _, s := range v.Schemas {
		who := printable.Names(s.Names)
		if s.Model {
			who = "most, which the others are compared with"
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
