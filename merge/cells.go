package merge

import (
	"strings"
	"unicode"
)

// cells returns how many columns of a terminal s takes. Ideographs and their
// like take two, combining marks none.
func cells(s string) (n int) {
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi),
		r >= 0x3000 && r <= 0x303e,   // CJK punctuation
		r >= 0xff01 && r <= 0xff60,   // full-width forms
		r >= 0xffe0 && r <= 0xffe6,   // full-width signs
		r >= 0x1f300 && r <= 0x1faff: // pictographs
		if r >= 0xff61 && r <= 0xffdc {
			return 1 // half-width forms
		}
		return 2
	default:
		return 1
	}
}

// padded fills s with spaces up to a number of columns.
func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-cells(s)))
}

// shortened cuts s to a number of columns, and shows that it did.
func shortened(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += cellsOf(r); used >= width {
			return s[:i] + "…"
		}
	}
	return s
}
