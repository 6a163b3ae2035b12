package check

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
)

// A value has room in a column if its bytes, as the column keeps them, or its characters do.
func TestRoomOfCells(t *testing.T) {
	for _, tt := range []struct {
		kind           catalog.Kind
		typ, collation string
		value, problem string
	}{
		{catalog.KindText, "varchar(3)", "utf8mb4_bin", "\u00e9\u00e9\u00e9", ""},
		{catalog.KindText, "varchar(3)", "utf8mb4_bin", "1234", "4 characters, and the column takes 3"},
		{catalog.KindText, "tinytext", "utf8mb4_bin", strings.Repeat("1", 255), ""},
		{catalog.KindText, "tinytext", "utf8mb4_bin", strings.Repeat("1", 256), "256 bytes, and the column takes 255"},
		{catalog.KindText, "tinytext", "utf32_bin", strings.Repeat("1", 64), "256 bytes, and the column takes 255"},
		{catalog.KindText, "tinytext", "ucs2_bin", strings.Repeat("1", 127), ""},
		{catalog.KindBytes, "varbinary(3)", "", "1234", "4 bytes, and the column takes 3"},
		{catalog.KindText, "longtext", "utf8mb4_bin", strings.Repeat("1", 70_000), ""},
		{catalog.KindInteger, "smallint", "", "32768", "at most 32767"},
		{catalog.KindInteger, "smallint", "", "-3", ""},
	} {
		r := roomOf(&catalog.Column{Kind: tt.kind, Type: tt.typ, Collation: tt.collation}, "mariadb")
		if got := r.problem([]byte(tt.value)); (got == "") != (tt.problem == "") || !strings.Contains(got, tt.problem) {
			t.Errorf("%s of %s: %q, want %q", tt.typ, tt.collation, got, tt.problem)
		}
	}
}
