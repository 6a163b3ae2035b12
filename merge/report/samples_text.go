package report

import (
	"fmt"
	"slices"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/verdict"
)

// samples writes rows one below the other, so that what differs stands out.
func (t *text) samples(samples []verdict.Sample) {
	if len(samples) == 0 {
		return
	}
	header := slice.Map(samples[0].Rows[0].Fields, func(f catalog.Field) string { return f.Column })
	header = append([]string{"source"}, header...)
	rows := [][]string{header}
	for i, s := range samples {
		if i > 0 {
			rows = append(rows, nil)
		}
		for _, row := range s.Rows {
			rows = append(rows, rowText(row, header))
		}
		if s.Omitted > 0 {
			rows = append(rows, []string{"", "and " + printable.Count(s.Omitted, "more row", "more rows")})
		}
	}
	t.table(6, rows)
}

// rowText puts the values of a row below their columns. A row of another table
// has columns of its own, which are named.
func rowText(r verdict.SampleRow, header []string) []string {
	cells := []string{r.World}
	if r.Table != "" {
		cells[0] += " " + r.Table
		for _, f := range r.Fields {
			cells = append(cells, f.Column+"="+f.String())
		}
		return cells
	}
	for _, column := range header[1:] {
		i := slices.IndexFunc(r.Fields, func(f catalog.Field) bool { return f.Column == column })
		if i < 0 {
			cells = append(cells, "-")
		} else {
			cells = append(cells, r.Fields[i].String())
		}
	}
	return cells
}

// table writes rows in aligned columns, as many as there is room for. The first
// row says how many there is no room for.
func (t *text) table(indent int, rows [][]string) {
	var widths []columns.Column
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, columns.Column{})
			}
			row[i] = printable.Text(cell)
			widths[i].Min = max(widths[i].Min, min(columns.Width(row[i]), textCell))
		}
	}
	const room = len("(+99)")
	fit, used := 0, indent
	for fit < len(widths) && (fit < 2 || used+widths[fit].Min+2+room <= t.width) {
		used += widths[fit].Min + 2
		fit++
	}
	for n, row := range rows {
		rows[n] = slices.Clone(row[:min(fit, len(row))])
		for i, cell := range rows[n] {
			rows[n][i] = columns.Cut(cell, textCell)
		}
		if n == 0 && fit < len(row) {
			rows[n] = append(rows[n], fmt.Sprintf("(+%d)", len(row)-fit))
		}
	}
	t.lines(indent, columns.Lines(rows, widths[:fit]...))
}
