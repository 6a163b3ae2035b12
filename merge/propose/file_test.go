package propose

import (
	"strings"
	"testing"

	"mergesafe/merge/verdict"
)

// The header names the list undecided only if it has columns.
func TestUndecidedInHeader(t *testing.T) {
	for _, undecided := range []bool{false, true} {
		r := &verdict.Report{Proposed: &verdict.Proposed{}}
		if undecided {
			r.Proposed.Columns = []verdict.ProposedColumn{{Table: "mail", Column: "owner", Class: verdict.ClassUndecided}}
		}
		var file strings.Builder
		if err := WriteRules(r, &file); err != nil {
			t.Fatal(err)
		}
		if text := file.String(); strings.Contains(text, "Read the list undecided") != undecided || strings.Contains(text, "No column is undecided") == undecided {
			t.Errorf("%t: %s", undecided, text)
		}
	}
}
