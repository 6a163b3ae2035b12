package columns

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		prefix, text string
		width        int
		want         []string
	}{
		{"", "", 10, []string{""}},
		{"", "as it is, and long", 0, []string{"as it is, and long"}},
		{"- ", "one two three", 9, []string{"- one two", "  three"}},
		{"", "a  table   of words", 8, []string{"a  table", "of words"}},
		{"", "名前は長い 世界", 10, []string{"名前は長い", "世界"}},
		{"", "名前は長い 世界", 9, []string{"名前は長", "い 世界"}},
		{"", "12345678901234567890", 8, []string{"12345678", "90123456", "7890"}},
		{"  ", "é́é́é́ e", 5, []string{"  é́é́é́", "  e"}},
		{"a very long prefix ", "word", 10, []string{"a very long prefix", "  word"}},
	} {
		if diff := cmp.Diff(tt.want, Wrap(tt.prefix, tt.text, tt.width)); diff != "" {
			t.Errorf("%q %q %d (-want +got):\n%s", tt.prefix, tt.text, tt.width, diff)
		}
	}
}

// No line is wider than asked for, and nothing is lost but spaces at the ends of lines.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab  世é"))).Draw(t, "text")
		width := rapid.IntRange(4, 12).Draw(t, "width")
		lines := Wrap("- ", text, width)
		for _, line := range lines {
			if Width(line) > width {
				t.Fatalf("%q has %d columns", line, Width(line))
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got, want := squeeze(strings.Join(lines, "")), squeeze("- "+text); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
