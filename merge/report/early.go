package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// earlyLines limits the results and the databases of an early report.
const earlyLines = 8

// WriteEarly writes a few lines about a report that is made before the keys are
// read. It returns the error of w.
func (c *Check) WriteEarly(w io.Writer) error {
	t := newCheckText(TextOptions{})
	number := func(n int) string { return printable.Number(int64(n)) }
	t.line(0, fmt.Sprintf("No verdict before the keys are read. So far, of %s: %s failed, %s not verified",
		printable.Count(int64(len(c.Report.Results)), "check", "checks"), number(len(c.Failed)), number(len(c.Unsure))))
	open, worlds := slices.Concat(c.Failed, c.Unsure), c.Report.Worlds
	t.some(len(open), earlyLines, andMore, func(i int) {
		f := open[i]
		what := strings.Join(strings.Fields(f.Code+" "+f.Table+" "+f.Subject), " ")
		t.line(2, fmt.Sprintf("%s  %s: %s", f.Counts(), what, f.Message))
	})
	rest := func(n int64) string { return printable.Count(n, "more database", "more databases") }
	t.some(len(worlds), earlyLines, rest, func(i int) {
		s := worlds[i]
		t.line(2, fmt.Sprintf("%s  about %s in %s", s.Name, printable.Count(rowsOf(s), "row", "rows"), printable.Count(int64(len(s.Tables)), "table", "tables")))
	})
	return t.to(w)
}
