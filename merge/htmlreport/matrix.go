package htmlreport

import (
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// matrixView is what the template shows of a matrix.
type matrixView struct {
	document
	Report *merge.MatrixReport
	Lines  []matrixLine
	Pairs  []matrixPair // those that did not pass
}

// matrixLine is one database beside all of them.
type matrixLine struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct {
	Verdict merge.Verdict
	Text    string
	Anchor  string // of what stands against the pair
}

type matrixPair struct {
	merge.Pair
	Anchor string
}

func newMatrixView(m *merge.MatrixReport) *matrixView {
	v := &matrixView{Report: m}
	count := make(map[merge.Verdict]int)
	anchors := make(map[*merge.Pair]string)
	for i := range m.Pairs {
		p := &m.Pairs[i]
		count[p.Verdict]++
		if p.Verdict != merge.Pass {
			anchors[p] = fmt.Sprintf("pair%d", i+1)
			v.Pairs = append(v.Pairs, matrixPair{*p, anchors[p]})
		}
	}
	switch {
	case m.Incomplete != "":
		v.Verdict = "INCOMPLETE"
	case count[merge.Pass] == len(m.Pairs):
		v.Verdict = string(merge.Pass)
	default: // nothing is wrong with the matrix, only with some pairs
		v.Verdict = "MATRIX"
	}
	v.Headline = printable.Count(int64(len(m.Sources)), "database", "databases") + ", " + printable.Count(int64(len(m.Pairs)), "pair", "pairs")
	v.Title = v.Verdict + ": " + v.Headline
	v.Counts = newMatrixCounts(count, len(m.Pairs))
	for _, a := range m.Sources {
		line := matrixLine{Name: a.Name}
		for _, b := range m.Sources {
			line.Cells = append(line.Cells, newMatrixCell(m, a.Name, b.Name, anchors))
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

func newMatrixCounts(n map[merge.Verdict]int, pairs int) []count {
	counts := []count{{n[merge.Pass], "can be merged", "pairs"}, {n[merge.Fail], "cannot", "reasons"}, {n[merge.NotVerified], "not verified", "reasons"}}
	if unknown := pairs - n[merge.Pass] - n[merge.Fail] - n[merge.NotVerified]; unknown > 0 {
		counts = append(counts, count{unknown, "without a verdict", "reasons"})
	}
	return counts
}

func newMatrixCell(m *merge.MatrixReport, a, b string, anchors map[*merge.Pair]string) matrixCell {
	p := m.Pair(a, b)
	switch {
	case a == b:
		return matrixCell{Text: "·"}
	case p == nil:
		return matrixCell{Text: "–"}
	}
	c := matrixCell{Verdict: p.Verdict, Text: "–", Anchor: anchors[p]}
	switch p.Verdict {
	case merge.Pass:
		c.Text = "✓"
	case merge.Fail:
		c.Text = "✗"
	case merge.NotVerified:
		c.Text = "?"
	}
	return c
}
