package printable_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"mergesafe/internal/printable"
)

// A parser of TOML reads back what was written.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "plain", `say "no"`, `a\b`, "two\nlines", "\x00\x7f", "名字", "\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("TOML is UTF-8")
		}
		var got struct {
			One string
			All []string
		}
		want := []string{s, "b", s}
		if _, err := toml.Decode("one = "+printable.TOML(s)+"\nall = "+printable.TOMLList(want), &got); err != nil {
			t.Fatal(err)
		}
		if got.One != s || !slices.Equal(got.All, want) {
			t.Errorf("got %q and %q, want %q", got.One, got.All, s)
		}
	})
}
