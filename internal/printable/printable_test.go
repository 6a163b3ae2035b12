package printable

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for s, want := range map[string]string{
		"":           "",
		"Ana 火é":     "Ana 火é",
		"\x1b[2J":    `\x1b[2J`,
		"a\nb\tc":    `a\nb\tc`,
		"a\u202eb":   `a\u202eb`,
		"a\u200bb":   `a\u200bb`,
		"\xff\xfea":  `\xff\xfea`,
		"a\ufffdb":   "a\ufffdb",
		"\U000e0041": `\U000e0041`,
		`\n<b>&`:     `\n<b>&`,
	} {
		if got := Text(s); got != want {
			t.Errorf("Text(%q) = %q, want %q", s, got, want)
		}
	}
}

// A backslash that is in the text can be told from one of an escape.
func TestPieces(t *testing.T) {
	want := []Piece{{`\n`, false}, {`\n\x00`, true}, {"x", false}}
	if diff := cmp.Diff(want, Pieces("\\n\n\x00x")); diff != "" {
		t.Error(diff)
	}
	if got := Pieces(""); got != nil {
		t.Errorf("nothing has the pieces %v", got)
	}
}
