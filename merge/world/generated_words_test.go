package world

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
)

// A column is widened where a wider type helps; elsewhere the same statement would be said again and again.
func TestRemedyOfColumns(t *testing.T) {
	for typ, want := range map[string]string{
		"tinyint(4)": "MODIFY `g` bigint ", "int unsigned": "MODIFY `g` bigint unsigned ", "varchar(6)": "MODIFY `g` varchar(255) ",
		"bigint": "drop the column", "varchar(300)": "drop the column", "date": "drop the column",
	} {
		b := &Bent{column: &catalog.Column{Name: "g", Type: typ, Generated: "x + 1"}, table: "t"}
		if got := b.Remedy(); !strings.Contains(got, want) || !strings.HasPrefix(got, "correct the row, or ") {
			t.Errorf("%s: %s", typ, got)
		}
	}
}
