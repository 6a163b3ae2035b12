package world

import (
	"errors"
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
		for why, helps := range map[string]bool{"Out of range value for column 'g'": true, "Data too long for column 'g'": true, "Truncated incorrect INTEGER value: '12x'": false, "": false} {
			b := &Bent{column: &catalog.Column{Name: "g", Type: typ, Generated: "x + 1"}, table: "t"}
			if why != "" {
				b.why = errors.New(why)
			}
			want := want
			if !helps {
				want = "drop the column"
			}
			if got := b.Remedy(); !strings.Contains(got, want) || !strings.HasPrefix(got, "correct the row, or ") {
				t.Errorf("%s, %s: %s", typ, why, got)
			}
		}
	}
}
