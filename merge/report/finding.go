package report

import (
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/verdict"
)

// finding is a result that did not pass.
type finding struct {
	verdict.Result
	Meaning string
	Samples []sample // in place of the rows of the result
}

// sample is a conflict with its rows side by side, a grid for each table that
// they are from.
type sample struct {
	Key     string
	Grids   []grid
	Omitted int64
}

// grid has a row for every column of a table, so that what differs stands out
// and many columns fit a narrow screen.
type grid struct {
	Table  string // if it is not the result's
	Worlds []string
	Lines  []gridLine
}

type gridLine struct {
	Column  string
	Differs bool
	Cells   []cell
}

// cell is one value. Missing ones belong to a column that the row has not.
type cell struct {
	Text          string
	Null, Missing bool
}

func newSample(s verdict.Sample) sample {
	out := sample{Key: s.Key, Omitted: s.Omitted}
	for name, rows := range slice.Groups(s.Rows, func(r verdict.SampleRow) string { return r.Table }) {
		out.Grids = append(out.Grids, newGrid(name, rows))
	}
	return out
}

func newGrid(name string, rows []verdict.SampleRow) grid {
	g := grid{Table: name}
	var columns []string
	for _, row := range rows {
		g.Worlds = append(g.Worlds, row.World)
		for _, f := range row.Fields {
			if !slices.Contains(columns, f.Column) {
				columns = append(columns, f.Column)
			}
		}
	}
	for _, column := range columns {
		line := gridLine{Column: column}
		for _, row := range rows {
			c := cell{Missing: true}
			for _, f := range row.Fields {
				if f.Column == column {
					c = cell{Text: f.Value, Null: f.Null}
				}
			}
			line.Differs = line.Differs || len(line.Cells) > 0 && c != line.Cells[0]
			line.Cells = append(line.Cells, c)
		}
		g.Lines = append(g.Lines, line)
	}
	return g
}
