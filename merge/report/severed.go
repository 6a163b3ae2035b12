package report

import (
	"cmp"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/rules"
)

// severed writes what becomes of rows that refer to rows which stay behind.
func (t *text) severed(p *merge.Plan) {
	t.staying(staying(p))
	t.renumbered(p)
	title, n := "Rows that reference rows that stay behind, also if these are gone already:", len(p.Severed)
	t.list(title, n, n, func(i int) string {
		s, becomes := &p.Severed[i], "get no reference (NULL)"
		switch {
		case s.Gone == rules.GoneDrop:
			becomes = "stay behind too"
		case s.Becomes != nil:
			becomes = "get no reference (" + cmp.Or(*s.Becomes, `""`) + ")"
		}
		return s.Table + "." + s.Column + " to " + s.To + ": " + becomes + ": " + countsText(p, s.Counts)
	})
}

// countsText writes the rows of each world that has some.
func countsText(p *merge.Plan, counts []int64) string {
	var all []string
	for i, n := range counts[:min(len(counts), len(p.Worlds))] {
		if n > 0 {
			all = append(all, p.Worlds[i].Name+" "+printable.Number(n))
		}
	}
	return cmp.Or(printable.List(all, ", ", 8), "none")
}

// renumbered writes in which columns rows get other values.
func (t *text) renumbered(p *merge.Plan) {
	n := len(p.Renumbered)
	t.list("Rows that get the next free value (each is among the renames):", n, n, func(i int) string {
		of := &p.Renumbered[i]
		return of.Table + "." + of.Column + " within " + printable.Names(of.Within) + ": " + countsText(p, of.Counts)
	})
}
