package check

import (
	"bytes"
	"unicode/utf8"
)

// folded is a text without regard to case and to spaces at its end. The keys inside
// texts are compared so, for nothing tells the collation of a part of a text.
func folded(text []byte) []byte { return appendFolded(nil, text) }

// appendFolded appends what folded returns.
func appendFolded(dst, text []byte) []byte {
	text = bytes.TrimRight(text, " ")
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return append(dst[:len(dst)-i], bytes.ToLower(text)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
