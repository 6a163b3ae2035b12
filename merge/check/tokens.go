package check

import (
	"encoding/hex"
	"iter"
	"slices"

	"mergesafe/gameid"
	"mergesafe/merge/keys"
)

// token is a part of a text that may be a key, in one of the forms in which keys
// are written: a maximal run of letters, digits and underscores, or a UUID.
type token struct {
	text []byte
	Form tokenForm
}

// tokenForm says as what a token may be read.
type tokenForm int

const (
	tokenWord    tokenForm = iota // a name, or a key that is text
	TokenDecimal                  // and a number; hexadecimal, too, if the column has such
	tokenHex                      // and a hexadecimal number: digits and letters
	tokenHexWord                  // and a hexadecimal number if the column has such: letters alone
	tokenID                       // 20 hexadecimal digits
	tokenUUID
	tokenAddress // four decimal numbers with dots between: not a key
)

// maxHex is how many hexadecimal digits a number may have.
const maxHex = 16

// Tokens takes a text apart. Of a text such as 10.0.0.1, the numbers are not keys.
func Tokens(text []byte) iter.Seq[token] {
	return func(yield func(token) bool) {
		for i := 0; i < len(text); {
			if !tokenByte(text[i]) {
				i++
				continue
			}
			start := i
			for i < len(text) && tokenByte(text[i]) {
				i++
			}
			if end := start + 36; i == start+8 && end <= len(text) && isUUIDText(text[start:end]) && (end == len(text) || !tokenByte(text[end])) {
				i = end
				if !yield(token{text[start:end], tokenUUID}) {
					return
				}
				continue
			}
			t := token{text[start:i], formOf(text[start:i])}
			if t.Form == TokenDecimal && (start == 0 || text[start-1] != '.') {
				if end := addressEnd(text, i); end > 0 {
					i, t = end, token{text[start:end], tokenAddress}
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// tokenByte reports whether a byte belongs to a token. Letters beyond ASCII do.
func tokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func formOf(text []byte) tokenForm {
	digits, letters := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			letters++
		default:
			if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
				return prefixedForm(text[2:])
			}
			return tokenWord
		}
	}
	switch {
	case len(text) == 2*gameid.Size:
		return tokenID
	case letters == 0:
		return TokenDecimal
	case len(text) > maxHex:
		return tokenWord
	case digits == 0:
		return tokenHexWord
	default:
		return tokenHex
	}
}

// prefixedForm is the form of what stands behind 0x.
func prefixedForm(text []byte) tokenForm {
	switch {
	case slices.ContainsFunc(text, func(c byte) bool { return !hexDigit(c) }):
		return tokenWord
	case len(text) == 2*gameid.Size:
		return tokenID
	case len(text) <= maxHex:
		return tokenHex
	default:
		return tokenWord
	}
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// addressEnd returns where four decimal numbers end of which the first ends at i;
// 0 if it is not so.
func addressEnd(text []byte, i int) int {
	for range 3 {
		if i+1 >= len(text) || text[i] != '.' || text[i+1] < '0' || text[i+1] > '9' {
			return 0
		}
		for i++; i < len(text) && text[i] >= '0' && text[i] <= '9'; {
			i++
		}
	}
	if i < len(text) && (tokenByte(text[i]) || text[i] == '.' && i+1 < len(text) && tokenByte(text[i+1])) {
		return 0
	}
	return i
}

func isUUIDText(text []byte) bool {
	for i, c := range text {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !hexDigit(c) {
			return false
		}
	}
	return true
}

// Decimal is the token as a number.
func (t token) Decimal() (keys.Integer, bool) {
	text := t.text
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	return keys.ParseInteger(text)
}

// hex is the token as a hexadecimal number.
func (t token) hex() (keys.Integer, bool) {
	digits := t.digits()
	if len(digits) > maxHex {
		return keys.Integer{}, false
	}
	var v uint64
	for _, c := range digits {
		v <<= 4
		switch {
		case c <= '9':
			v |= uint64(c - '0')
		default:
			v |= uint64(c&^0x20 - 'A' + 10)
		}
	}
	return keys.Integer{Bits: v}, true
}

// digits are the hexadecimal digits, without 0x before them.
func (t token) digits() []byte {
	if len(t.text) > 2 && t.text[0] == '0' && t.text[1]&^0x20 == 'X' {
		return t.text[2:]
	}
	return t.text
}

// bytes appends what the hexadecimal digits of an ID or a UUID stand for.
func (t token) bytes(dst []byte) []byte {
	var digits [32]byte
	kept := digits[:0]
	for _, c := range t.digits() {
		if c != '-' {
			kept = append(kept, c)
		}
	}
	dst, _ = hex.AppendDecode(dst, kept)
	return dst
}
