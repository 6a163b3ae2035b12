package cli

import (
	"strings"
	"testing"
)

// Columns stand below each other on a terminal, whatever the script.
func TestWriteColumns(t *testing.T) {
	t.Setenv("LC_ALL", "zh_CN.UTF-8") // where some programs take "é" and "…" for wide
	var b strings.Builder
	if err := WriteColumns(&b, [][]string{
		{"NAME", "ROLE", "HOLDER"},
		{"一区", "own", "-"},
		{"café…", "merged", "pid 7"},
		{"cafe\u0301", "", ""},
		{"ｱ", "한국", "end"},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "NAME   ROLE    HOLDER\n" +
		"一区   own     -\n" +
		"café…  merged  pid 7\n" +
		"cafe\u0301\n" +
		"ｱ      한국    end\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
	if got := Pad("longer", 3); got != "longer" || Width() != 0 || Width("a", "一区", "abc") != 4 {
		t.Errorf("Pad: %q, Width: %d", got, Width("a", "一区", "abc"))
	}
}
