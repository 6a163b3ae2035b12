package report

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/check"
	"mergesafe/merge/verdict"
)

//go:embed matrix.html
var matrixPage string

// Matrix is a matrix, arranged for reading.
type Matrix struct {
	page
	Report  *check.MatrixReport
	Numbers map[verdict.Verdict]int // of pairs
	Lines   []matrixLine
	Pairs   []matrixPair // those that did not pass, or only with renames or new keys
}

// matrixLine is one database beside all of them.
type matrixLine struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct {
	Self    bool            // a database beside itself
	Verdict verdict.Verdict // "" if there is none
	Renames int64           // that it needs
	Rekeyed bool            // it needs new keys
	Anchor  string          // of the results that block the merge
}

type matrixPair struct {
	check.Pair
	Anchor string
}

// NewMatrix arranges a matrix.
func NewMatrix(m *check.MatrixReport) *Matrix {
	v := &Matrix{Report: m, Numbers: make(map[verdict.Verdict]int)}
	cells := make(map[[2]string]matrixCell)
	for i, p := range m.Pairs {
		v.Numbers[p.Verdict]++
		c := matrixCell{Verdict: p.Verdict, Renames: p.Renames, Rekeyed: p.Rekeyed}
		if p.Verdict != verdict.Pass || p.Renames > 0 || p.Rekeyed {
			c.Anchor = fmt.Sprintf("pair%d", i+1)
			v.Pairs = append(v.Pairs, matrixPair{p, c.Anchor})
		}
		cells[p.Worlds], cells[[2]string{p.Worlds[1], p.Worlds[0]}] = c, c
	}
	switch {
	case m.Incomplete != "", slices.ContainsFunc(m.Pairs, func(p check.Pair) bool { return p.Incomplete != "" }):
		v.Word = "INCOMPLETE"
	case v.Numbers[verdict.Pass] == len(m.Pairs):
		v.Word, v.Color = string(verdict.Pass), verdict.Pass
	default: // nothing is wrong with the matrix, only with some pairs
		v.Word = "MATRIX"
	}
	v.Headline = printable.Count(int64(len(m.Worlds)), "world", "worlds") + ", " + printable.Count(int64(len(m.Pairs)), "pair", "pairs")
	v.Title = v.Word + ": " + v.Headline
	v.count()
	for _, a := range m.Worlds {
		line := matrixLine{Name: a.Name}
		for _, b := range m.Worlds {
			c := cells[[2]string{a.Name, b.Name}]
			if a.Name == b.Name {
				c = matrixCell{Self: true}
			}
			line.Cells = append(line.Cells, c)
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

func (m *Matrix) count() {
	n := m.Numbers
	m.Counts = []count{{n[verdict.Pass], "can be merged", "pairs"}, {n[verdict.Fail], "cannot", "reasons"}, {n[verdict.NotVerified], "not verified", "reasons"}}
	if unknown := len(m.Report.Pairs) - n[verdict.Pass] - n[verdict.Fail] - n[verdict.NotVerified]; unknown > 0 {
		m.Counts = append(m.Counts, count{unknown, "without a verdict", "reasons"})
	}
}

// Sign is the cell on a page.
func (c matrixCell) Sign() string {
	return c.sign("·", map[verdict.Verdict]string{verdict.Pass: "✓", verdict.Fail: "✗", verdict.NotVerified: "?"}, "–")
}

func (c matrixCell) sign(self string, signs map[verdict.Verdict]string, none string) string {
	if c.Self {
		return self
	}
	if s, ok := signs[c.Verdict]; ok {
		return s
	}
	return none
}

// Needs says what a pair needs although it can be merged; "" if it needs nothing.
func (p matrixPair) Needs() string {
	var needs []string
	if p.Rekeyed {
		needs = append(needs, "rekeyed")
	}
	if p.Renames > 0 {
		needs = append(needs, "with "+printable.Count(p.Renames, "rename", "renames")+", by [[merge.name]]")
	}
	return strings.Join(needs, ", ")
}

// WriteHTML writes the matrix as a page. It returns the error of w.
func (m *Matrix) WriteHTML(w io.Writer) error { return m.write(w, matrixPage, m, m.Report) }

// WriteJSON writes the matrix as it is. It returns the error of w.
func (m *Matrix) WriteJSON(w io.Writer) error { return writeReport(w, m.Report) }
