package main

import (
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// earlyLines is how many results, and how many databases, [early] shows.
const earlyLines = 8

// early is what is known before the keys are read, in a few lines.
func early(r *merge.Report) string {
	var b strings.Builder
	var shown, failed, unsure int
	var lines []string
	for _, verdict := range []merge.Verdict{merge.Fail, merge.NotVerified} {
		for _, result := range r.Results {
			if countsAs(result) != verdict {
				continue
			}
			if verdict == merge.Fail {
				failed++
			} else {
				unsure++
			}
			if shown++; shown <= earlyLines {
				what := strings.Join(strings.Fields(result.Code+" "+result.Table+" "+result.Subject), " ")
				lines = append(lines, fmt.Sprintf("  %s  %s: %s", verdict, what, result.Message))
			}
		}
	}
	if shown > earlyLines {
		lines = append(lines, "  and "+printable.Number(int64(shown-earlyLines))+" more")
	}
	for i, s := range r.Sources {
		if i == earlyLines {
			lines = append(lines, "  and "+printable.Count(int64(len(r.Sources)-i), "more database", "more databases"))
			break
		}
		var n int64
		for _, t := range s.Tables {
			n += t.Rows
		}
		lines = append(lines, fmt.Sprintf("  %s  %s in %s", s.Name, printable.Count(n, "row", "rows"), printable.Count(int64(len(s.Tables)), "table", "tables")))
	}
	fmt.Fprintf(&b, "Before the keys are read, no verdict yet: of %s %s failed, %s not verified\n",
		printable.Count(int64(len(r.Results)), "check", "checks"), printable.Number(int64(failed)), printable.Number(int64(unsure)))
	for _, l := range lines {
		b.WriteString(printable.Text(l) + "\n")
	}
	return b.String()
}
