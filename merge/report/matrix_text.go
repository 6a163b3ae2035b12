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
	"mergesafe/merge/check"
	"mergesafe/merge/verdict"
)

// textPlaces limits the places that are shown for each code of a pair.
const textPlaces = 4

// WriteText writes a line and a column for each database, then the results that block the
// merge of a pair, and at the end the first line again. It returns the error of w.
func (m *Matrix) WriteText(w io.Writer, o TextOptions) error {
	t := newText(o)
	writePairCounts(t, m)
	t.WriteString("\n")
	t.verbatim(0, m.grid())
	t.WriteString("\n   ok: can be merged   ok+: with renames or new keys   NO: cannot   ?: not verified   -: no verdict\n")
	t.pairs(m.Pairs, "")
	t.pairs(m.Pairs, verdict.Pass)
	for _, verdict := range []verdict.Verdict{verdict.Fail, verdict.NotVerified} {
		for _, p := range m.Pairs {
			if p.Verdict == verdict {
				t.heading(verdict, p.Worlds[0]+" and "+p.Worlds[1])
				t.lines(2, deciding(p.Pair))
			}
		}
	}
	t.WriteString("\nA pair that can be merged says nothing about three together: check all worlds that you will merge in one check.\n")
	if t.isLong() {
		t.WriteString("\n")
		writePairCounts(t, m)
	}
	return t.to(w)
}

// writePairCounts says how many pairs have which verdict.
func writePairCounts(t *text, m *Matrix) {
	if why := m.Report.Incomplete; why != "" {
		t.verdict(m.Word, m.Color, why+"; pairs without a verdict were not fully checked")
	}
	number := func(v verdict.Verdict) string { return printable.Number(int64(m.Numbers[v])) }
	t.line(0, fmt.Sprintf("%s: %s can be merged, %s cannot, %s not verified%s", printable.Count(int64(len(m.Report.Pairs)), "pair", "pairs"),
		number(verdict.Pass), number(verdict.Fail), number(verdict.NotVerified), m.allowed()))
}

// allowed says what the operator allows in all pairs together.
func (m *Matrix) allowed() string {
	results := slice.Map(m.Report.Pairs, func(p check.Pair) []verdict.Result { return p.Results })
	if counts := verdict.AllowedCodes(slices.Concat(results...)); counts != "" {
		return "; allowed by the operator: " + counts
	}
	return ""
}

// pairs writes the pairs of a verdict for which a line is enough.
func (t *text) pairs(all []matrixPair, verdict verdict.Verdict) {
	var lines []string
	for _, p := range all {
		if what := cmp.Or(p.Incomplete, p.Needs()); p.Verdict == verdict && what != "" {
			lines = append(lines, p.Worlds[0]+" and "+p.Worlds[1]+": "+what)
		}
	}
	switch {
	case len(lines) == 0:
		return
	case verdict == "":
		t.WriteString("\nNO VERDICT  a world could not be read\n")
	default:
		t.heading(verdict, "with renames or new keys")
	}
	t.lines(2, lines)
}

func (m *Matrix) grid() []string {
	described := []columns.Column{{Min: 4, Right: true}, {}}
	rows := [][]string{{"", ""}}
	for i, line := range m.Lines {
		described = append(described, columns.Column{Min: 3, Right: true})
		number := fmt.Sprint(i + 1)
		rows[0] = append(rows[0], number)
		row := []string{number, printable.Text(line.Name)}
		for _, c := range line.Cells {
			sign := c.sign(".", map[verdict.Verdict]string{verdict.Pass: "ok", verdict.Fail: "NO", verdict.NotVerified: "?"}, "-")
			if c.Verdict == verdict.Pass && (c.Renames > 0 || c.Rekeyed) {
				sign = "ok+"
			}
			row = append(row, sign)
		}
		rows = append(rows, row)
	}
	return columns.Lines(rows, described...)
}

// deciding returns the results that decided the verdict of a pair, one line for
// each code.
func deciding(p check.Pair) []string {
	decided := slices.DeleteFunc(slices.Clone(p.Results), func(r verdict.Result) bool { return counted(r) != p.Verdict })
	counts := func(r verdict.Result) string {
		place := strings.TrimSpace(r.Table + " " + r.Subject)
		if place != "" && r.Count > 0 {
			place += " (" + printable.Number(r.Count) + ")"
		}
		return place
	}
	return byCode(decided, counts, func(places []string) string { return ": " + printable.List(places, ", ", textPlaces) })
}
