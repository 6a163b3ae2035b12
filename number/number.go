// Package number has the short numbers that a game shows and players read aloud: "add
// me, 10 084 213". It reads and writes their text, and refuses a mistyped number by its
// check digit. The numbers themselves come from package store/numbers.
//
// It imports nothing but the standard library.
package number

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Max is the greatest number, of 15 digits. JavaScript and JSON keep all of
// them exactly.
const Max Number = 999_999_999_999_999

// Number is a short number, from 1 to [Max]. Its check digit, if it has one, is its
// last digit and is stored with it.
//
// The zero value is not a number: it is NULL in a database. In JSON a Number is a
// number; give its field the option omitzero.
type Number int64

// IsValid reports whether n is from 1 to [Max]. It does not look at check
// digits: see [Number.Checked].
func (n Number) IsValid() bool { return 1 <= n && n <= Max }

// String returns the digits of n.
func (n Number) String() string { return strconv.FormatInt(int64(n), 10) }

// Spaced returns the digits of n as they are easily read, by threes: "10 084
// 213".
func (n Number) Spaced() string {
	s := n.String()
	var b strings.Builder
	for i, digit := range []byte(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(digit)
	}
	return b.String()
}

// Parse reads a number as people type it: digits, and between them single
// spaces or hyphens. It does not look at check digits: see [ParseChecked].
func Parse(text string) (Number, error) {
	bad := func(format string, args ...any) (Number, error) {
		return 0, fmt.Errorf("number: %s %s", quote(text), fmt.Sprintf(format, args...))
	}
	var n Number
	digits, gap := 0, true // a gap may not come first
	for _, r := range text {
		switch {
		case '0' <= r && r <= '9':
			if digits++; digits > 15 {
				return bad("has more than 15 digits")
			}
			if n, gap = 10*n+Number(r-'0'), false; n == 0 {
				return bad("begins with 0")
			}
		case gap || !isGap(r):
			return bad("is not a number: want digits, with single spaces or hyphens between them")
		default:
			gap = true
		}
	}
	switch {
	case digits == 0:
		return bad("has no digits")
	case gap:
		return bad("ends with a space or a hyphen")
	}
	return n, nil
}

// ParseChecked is [Parse] for a number whose last digit is its check digit. It
// refuses every number with one wrong digit, or with two neighbours swapped.
func ParseChecked(text string) (Number, error) {
	n, err := Parse(text)
	if err == nil && !n.Checked() {
		return 0, fmt.Errorf("number: %s is mistyped: its last digit does not match the others", quote(text))
	}
	return n, err
}

// isGap reports whether r may stand between digits: a space, also one of those
// that keep a line together, or a hyphen.
func isGap(r rune) bool {
	const noBreak, thin, narrowNoBreak, noBreakHyphen = '\u00a0', '\u2009', '\u202f', '\u2011'
	switch r {
	case ' ', '-', noBreak, thin, narrowNoBreak, noBreakHyphen:
		return true
	}
	return false
}

// Value implements [driver.Valuer]. The zero value is NULL.
func (n Number) Value() (driver.Value, error) {
	switch {
	case n == 0:
		return nil, nil
	case !n.IsValid():
		return nil, fmt.Errorf("number: %d is out of range, want 1 to %d", int64(n), int64(Max))
	}
	return int64(n), nil
}

// Scan implements [database/sql.Scanner]. NULL is the zero value.
func (n *Number) Scan(src any) error {
	var found Number
	switch src := src.(type) {
	case nil:
		*n = 0
		return nil
	case int64:
		found = Number(src)
	case []byte:
		v, err := strconv.ParseInt(string(src), 10, 64)
		if err != nil {
			return fmt.Errorf("number: %s in the database is not a number", quote(string(src)))
		}
		found = Number(v)
	default:
		return fmt.Errorf("number: a %T in the database is not a number", src)
	}
	if !found.IsValid() {
		return fmt.Errorf("number: %d in the database is out of range, want 1 to %d", int64(found), int64(Max))
	}
	*n = found
	return nil
}

// quote keeps messages short whatever the input: a stranger chooses it.
func quote(s string) string {
	const most = 40
	if len(s) > most || !utf8.ValidString(s) {
		return strconv.QuoteToASCII(s[:min(most, len(s))]) + strings.Repeat("...", min(1, max(0, len(s)-most)))
	}
	return strconv.Quote(s)
}
