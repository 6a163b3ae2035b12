package columns

import (
	"slices"
	"strings"
	"testing"
)

// Lines stand below each other on a terminal, whatever the script.
func TestWrite(t *testing.T) {
	t.Setenv("LC_ALL", "zh_CN.UTF-8") // where some programs take "é" and "…" for wide
	var b strings.Builder
	if err := Write(&b, [][]string{
		{"NAME", "ROLE", "HOLDER"},
		{"一区", "own", "-"},
		{"café…", "merged", "pid 7"},
		{"cafe\u0301", "", ""},
		{"ｱ", "한국", "end"},
	}, 0); err != nil {
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
	if got := Pad("longer", 3); got != "longer" {
		t.Errorf("Pad: %q", got)
	}
}

// A table that is wider than the terminal is wrapped at its spaces, below its second column.
func TestWriteWraps(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, [][]string{{"NO", "NAME", "HOLDER"}, {"7", "一区", "game-server, pid 7 on host-1"}, {"8", "s2", "-"}}, 24); err != nil {
		t.Fatal(err)
	}
	const want = "NO  NAME  HOLDER\n" +
		"7   一区  game-server,\n" +
		"    pid 7 on host-1\n" +
		"8   s2    -\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestLines(t *testing.T) {
	described := []Column{{}, {Min: 7, Right: true}, {Right: true}}
	got := Lines([][]string{{"table", "rows", "own"}, {"一区", "1,234", "12,345", "more"}, nil, {"items", "1", "2", "", ""}}, described...)
	want := []string{
		"table     rows     own",
		"一区     1,234  12,345  more",
		"",
		"items        1       2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%swant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if described[0].Min != 0 {
		t.Error("the description is changed")
	}
	if got := Lines(nil, described...); len(got) != 0 {
		t.Errorf("no rows are %q", got)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "火球": 4, "한글": 4, "カナ": 4, "ｶﾅ": 2, "Ａ": 2, "→": 1, "🔥": 2, "…": 1} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]string{"abcdef": "abcdef", "abcdefg": "abcde…", "火球术": "火球术", "火球术士": "火球…", "a火球术士": "a火球…"} {
		if got := Cut(s, 6); got != want {
			t.Errorf("Cut(%q) = %q, want %q", s, got, want)
		}
	}
}
