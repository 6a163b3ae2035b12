package report

import (
	"strings"
	"testing"

	"mergesafe/internal/columns"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
)

// Where a key came from, and renames, fit a narrow terminal, and lose no word.
func TestAnswersAreWrapped(t *testing.T) {
	way := []transfer.Origin{{Source: "the northern world", Table: "characters", Old: rekey.Integer{Bits: 7}, New: rekey.Integer{Bits: 1_000_007}, Merge: "0123456789abcdef"}}
	renames := NewRenames(&transfer.Plan{ID: "id", Renames: []transfer.Rename{{Source: "s2", Table: "players", Column: "name", Key: `["i7"]`, Old: "一区的名字 Eva", New: "一区的名字 Eva of the North"}}})
	const width = 50
	write := func(width int) (text string) {
		var b strings.Builder
		if err := WriteWhois(&b, TextOptions{Width: width}, "s1", "", "characters", rekey.Integer{Bits: 1_000_007}, way); err != nil {
			t.Fatal(err)
		}
		if err := renames.WriteText(&b, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	wrapped := write(width)
	for line := range strings.Lines(wrapped) {
		if n := columns.Width(strings.TrimRight(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got, want := strings.Fields(wrapped), strings.Fields(write(0)); strings.Join(got, " ") != strings.Join(want, " ") || len(want) < 20 {
		t.Errorf("got %s", wrapped)
	}
}
