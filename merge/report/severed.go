package report

import (
	"cmp"

	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer"
)

// severed writes what becomes of rows that refer to rows which stay behind.
func (t *text) severed(p *transfer.Plan) {
	t.leftRows(p)
	t.staying(staying(p))
	t.renumbered(p)
	if len(p.Severed) == 0 {
		return
	}
	t.section("Rows that reference rows that stay behind, also if these are gone already:")
	for _, s := range p.Severed {
		becomes := "get no reference (NULL)"
		switch {
		case s.Rows == declare.RowsDrop:
			becomes = "stay behind too"
		case s.Becomes != nil:
			becomes = "get no reference (" + cmp.Or(*s.Becomes, `""`) + ")"
		}
		counts := cmp.Or(countsText(p, s.Counts, 1), "none")
		t.line(2, printable.Text(s.Table)+"."+printable.Text(s.Column)+" to "+printable.Text(s.To)+": "+becomes+": "+counts)
	}
}

// countsText writes the rows of each source, if there are so many at least.
func countsText(p *transfer.Plan, counts []int64, least int64) string {
	var all []string
	for i, n := range counts[:min(len(counts), len(p.Sources))] {
		if n >= least {
			all = append(all, p.Sources[i].Name+" "+printable.Number(n))
		}
	}
	return printable.List(all, ", ", 8)
}

// leftRows writes which rows stay behind, of tables of which others come.
func (t *text) leftRows(p *transfer.Plan) {
	if len(p.LeftRows) == 0 {
		return
	}
	t.section("Rows that stay behind in tables of which others are copied:")
	for _, l := range p.LeftRows {
		t.line(2, printable.Text(l.Table)+" when "+printable.Text(l.When.String())+": "+countsText(p, l.Counts, 0))
	}
}

// renumbered writes in which columns rows get other values.
func (t *text) renumbered(p *transfer.Plan) {
	if len(p.Renumbered) == 0 {
		return
	}
	t.section("Rows that get the next free value (each is among the renames):")
	for _, n := range p.Renumbered {
		t.line(2, printable.Text(n.Table)+"."+printable.Text(n.Column)+" within "+printable.Names(n.Within)+": "+countsText(p, n.Counts, 0))
	}
}
