// Package printable makes texts, numbers and times fit to be shown to people.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a text. An escaped one stands for characters that would
// not be seen, or would change what is around them: names of players come from
// players, and some hold what clears a screen or turns a line around.
type Piece struct {
	Text    string
	Escaped bool
}

// Pieces splits a text into pieces that are escaped and pieces that are not. Escapes are
// those of Go: "\n", "\u202e". Printable characters are never escaped, also if they are
// special in HTML or elsewhere.
func Pieces(s string) []Piece {
	var all []Piece
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		next := Piece{Text: s[:size]}
		if !unicode.IsPrint(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.QuoteToASCII(s[:size])
			next = Piece{quoted[1 : len(quoted)-1], true}
		}
		if n := len(all); n > 0 && all[n-1].Escaped == next.Escaped {
			all[n-1].Text += next.Text
		} else {
			all = append(all, next)
		}
		s = s[size:]
	}
	return all
}

// Text is the text with its escapes in place.
func Text(s string) string {
	var b strings.Builder
	for _, p := range Pieces(s) {
		b.WriteString(p.Text)
	}
	return b.String()
}
