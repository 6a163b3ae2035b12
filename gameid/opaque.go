package gameid

import "fmt"

// Opaque is an ID of kind E as the public sees it: sealed by a [Cipher]. Its
// text is 20 lower-case hexadecimal digits, as that of an [ID], and in JSON it
// is a string.
//
// An Opaque cannot be used as an ID, nor an ID as an Opaque: only a Cipher converts one
// to the other. It cannot be stored in a database, which would keep it longer than the
// secret that opens it: [database/sql] refuses it both ways. It has no order, no time
// and no server.
//
// The text alone does not show which of the two it is. Read text from outside straight
// into an Opaque.
//
// An Opaque is a value: compare it with ==, use it as a map key. The zero
// Opaque is invalid and cannot be marshalled. All 2^80 texts are valid,
// because each of them opens to something.
type Opaque[E any] struct {
	_  [0]*E // keeps Opaque[A](b) from compiling for a b of type Opaque[B]
	hi uint64
	lo uint16
	ok bool
}

func sealed[E any](hi uint64, lo uint16) Opaque[E] { return Opaque[E]{hi: hi, lo: lo, ok: true} }

// ParseOpaque reads the text of a sealed ID of kind E: exactly 20 hexadecimal
// digits in either case, nothing around them. Anything else is a
// [*ParseError]. It does not allocate unless it fails.
func ParseOpaque[E any](s string) (Opaque[E], error) { return parseOpaque[E](s) }

// parseOpaque reads the digits as parse does. To share them through a function
// made parse slower by a fifth.
func parseOpaque[E any, T string | []byte](s T) (Opaque[E], error) {
	if len(s) != TextSize {
		return Opaque[E]{}, textError(string(s))
	}
	a, badA := hex8(load8(s[0:8]))
	b, badB := hex8(load8(s[8:16]))
	c, badC := hex8(load4(s[16:20])<<32 | 0x30303030) // four zeros in front
	if badA|badB|badC != 0 {
		return Opaque[E]{}, textError(string(s))
	}
	return sealed[E](a<<32|b, uint16(c)), nil
}

// IsValid is false for the zero value only.
func (o Opaque[E]) IsValid() bool { return o.ok }

// String returns the 20 digits of o, or "invalid opaque gameid" for the zero
// Opaque.
func (o Opaque[E]) String() string {
	if !o.ok {
		return "invalid opaque gameid"
	}
	var b [TextSize]byte
	o.putText(&b)
	return string(b[:])
}

func (o Opaque[E]) putText(b *[TextSize]byte) { ID{hi: o.hi, lo: o.lo}.putText(b) }

// AppendText appends the 20 digits of o to b. The zero Opaque is [ErrZeroID].
// It allocates only what b lacks in capacity.
func (o Opaque[E]) AppendText(b []byte) ([]byte, error) {
	if !o.ok {
		return b, ErrZeroID
	}
	var text [TextSize]byte
	o.putText(&text)
	return append(b, text[:]...), nil
}

// MarshalText returns the 20 digits of o. The zero Opaque is [ErrZeroID].
func (o Opaque[E]) MarshalText() ([]byte, error) { return o.AppendText(make([]byte, 0, TextSize)) }

// UnmarshalText reads text as [ParseOpaque] does. On error *o becomes the zero
// Opaque.
func (o *Opaque[E]) UnmarshalText(text []byte) (err error) {
	*o, err = parseOpaque[E](text)
	return err
}

// MarshalJSON returns o as a JSON string. The zero Opaque is [ErrZeroID]: use
// a pointer where one may be missing.
func (o Opaque[E]) MarshalJSON() ([]byte, error) {
	if !o.ok {
		return nil, ErrZeroID
	}
	b := make([]byte, 0, TextSize+2)
	b = append(b, '"')
	b, _ = o.AppendText(b)
	return append(b, '"'), nil
}

// UnmarshalJSON reads a JSON string as [ParseOpaque] does. A number, null or
// anything else is an error. Then *o becomes the zero Opaque. A field
// that may be null is a pointer.
func (o *Opaque[E]) UnmarshalJSON(b []byte) error {
	*o = Opaque[E]{}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("gameid: JSON %s is not an ID: want a string of %d hexadecimal digits", quote(string(b)), TextSize)
	}
	return o.UnmarshalText(b[1 : len(b)-1])
}
