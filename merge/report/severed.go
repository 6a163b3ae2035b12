package report

import (
	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer"
)

// severed writes what becomes of rows that refer to rows which stay behind.
func (t *text) severed(p *transfer.Plan) {
	t.leftRows(p)
	t.renumbered(p)
	if len(p.Severed) == 0 {
		return
	}
	t.WriteString("\n")
	t.line(0, "Rows that reference rows that stay behind, also if these are gone already:")
	for _, s := range p.Severed {
		var counts []string
		for i, n := range s.Counts {
			if n > 0 && i < len(p.Sources) {
				counts = append(counts, p.Sources[i].Name+" "+printable.Number(n))
			}
		}
		becomes := "get no reference (NULL)"
		switch {
		case s.Rows == declare.RowsDrop:
			becomes = "stay behind too"
		case s.Becomes != nil:
			becomes = "get no reference (" + *s.Becomes + ")"
		}
		if len(counts) == 0 {
			counts = []string{"none"}
		}
		t.line(2, printable.Text(s.Table)+"."+printable.Text(s.Column)+" to "+printable.Text(s.To)+": "+becomes+": "+printable.List(counts, ", ", 8))
	}
}

// leftRows writes which rows stay behind, of tables of which others come.
func (t *text) leftRows(p *transfer.Plan) {
	if len(p.LeftRows) == 0 {
		return
	}
	t.WriteString("\n")
	t.line(0, "Rows that stay behind in tables of which others are copied:")
	for _, l := range p.LeftRows {
		var counts []string
		for i, n := range l.Counts {
			if i < len(p.Sources) {
				counts = append(counts, p.Sources[i].Name+" "+printable.Number(n))
			}
		}
		t.line(2, printable.Text(l.Table)+" when "+printable.Text(l.When.String())+": "+printable.List(counts, ", ", 8))
	}
}

// renumbered writes in which columns rows get other values.
func (t *text) renumbered(p *transfer.Plan) {
	if len(p.Renumbered) == 0 {
		return
	}
	t.WriteString("\n")
	t.line(0, "Rows that get the next free value (each is among the renames):")
	for _, n := range p.Renumbered {
		var counts []string
		for i, rows := range n.Counts {
			if i < len(p.Sources) {
				counts = append(counts, p.Sources[i].Name+" "+printable.Number(rows))
			}
		}
		t.line(2, printable.Text(n.Table)+"."+printable.Text(n.Column)+" within "+printable.Names(n.Within)+": "+printable.List(counts, ", ", 8))
	}
}
