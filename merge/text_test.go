package merge_test

import (
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// textOf is the text of a report of 80 columns.
func textOf(r *merge.Report) string {
	var b strings.Builder
	if err := report.NewCheck(r).WriteText(&b, report.TextOptions{Width: 80}); err != nil {
		panic(err)
	}
	return b.String()
}
