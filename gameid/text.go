package gameid

import (
	"fmt"
)

const digits = "0123456789abcdef"

// pairs holds the two digits of every byte; values holds the value of every
// digit and notDigit for what is none. They are filled by the compiler's
// initializer rather than by hand, and never written again.
var pairs, values = textTables()

const notDigit = 0xff

func textTables() (pairs [256][2]byte, values [256]byte) {
	for i := range pairs {
		pairs[i] = [2]byte{digits[i>>4], digits[i&15]}
		values[i] = notDigit
	}
	for i := range 16 {
		values[digits[i]] = byte(i)
	}
	for i := 10; i < 16; i++ {
		values[digits[i]-'a'+'A'] = byte(i)
	}
	return pairs, values
}

// Parse reads the text of an ID: exactly 20 hexadecimal digits in either
// case, nothing around them, and a server that is not 0. Anything else is a
// [*ParseError]. It does not allocate unless it fails.
func Parse(s string) (ID, error) { return parse(s) }

// MustParse is [Parse] for constants and tests: it panics on bad text.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parse[T string | []byte](s T) (ID, error) {
	if len(s) != TextSize {
		return ID{}, textError(string(s))
	}
	var hi uint64
	var lo uint16
	var bad byte // gets its high bits from notDigit
	for i := range 16 {
		v := values[s[i]]
		bad |= v
		hi = hi<<4 | uint64(v&15)
	}
	for i := 16; i < TextSize; i++ {
		v := values[s[i]]
		bad |= v
		lo = lo<<4 | uint16(v&15)
	}
	id := ID{hi, lo}
	if bad > 15 || !id.IsValid() {
		return ID{}, textError(string(s))
	}
	return id, nil
}

// String returns the 20 digits of id, or "invalid gameid" for the zero ID.
func (id ID) String() string {
	if !id.IsValid() {
		return "invalid gameid"
	}
	var b [TextSize]byte
	id.putText(&b)
	return string(b[:])
}

func (id ID) putText(b *[TextSize]byte) {
	raw := id.Bytes()
	for i, v := range raw {
		p := &pairs[v]
		b[2*i], b[2*i+1] = p[0], p[1]
	}
}

// AppendText appends the 20 digits of id to b. The zero ID is an error. It
// allocates only what b lacks in capacity.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if !id.IsValid() {
		return b, ErrZeroID
	}
	var text [TextSize]byte
	id.putText(&text)
	return append(b, text[:]...), nil
}

// MarshalText returns the 20 digits of id. The zero ID is an error.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(make([]byte, 0, TextSize)) }

// UnmarshalText reads text as [Parse] does. On error *id becomes the zero ID.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = parse(text)
	return err
}

// MarshalJSON returns id as a JSON string. The zero ID is an error: use a
// pointer where an ID may be missing.
func (id ID) MarshalJSON() ([]byte, error) {
	if !id.IsValid() {
		return nil, ErrZeroID
	}
	b := make([]byte, 0, TextSize+2)
	b = append(b, '"')
	b, _ = id.AppendText(b)
	return append(b, '"'), nil
}

// UnmarshalJSON reads a JSON string as [Parse] does. A number, null or
// anything else is an error, upon which *id becomes the zero ID. A field that
// may be null is a pointer.
func (id *ID) UnmarshalJSON(b []byte) (err error) {
	*id = ID{}
	// An ID needs no escapes, so what is between the quotes is the text.
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("gameid: JSON %s is not an ID: want a string of %d hexadecimal digits", quote(string(b)), TextSize)
	}
	return id.UnmarshalText(b[1 : len(b)-1])
}
