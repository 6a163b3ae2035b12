package keys

import (
	"errors"
	"fmt"
)

// raw is a number from 0 in a fixed number of bytes.
type raw struct {
	length  int  // 1 to 8 bytes
	big     bool // the highest byte comes first
	empties bool
	empty   uint64 // says that there is no number
}

func (n raw) read(t part) (v Integer, any bool, err error) {
	b := t.bytes()
	if len(b) != n.length {
		return v, false, t.fault(t.from, t.to, "want %d bytes", n.length)
	}
	v.Bits = n.number(b)
	return v, !n.empties || v.Bits != n.empty, nil
}

func (n raw) number(b []byte) (v uint64) {
	for i := range b {
		if n.big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

func (n raw) write(v Integer) ([]byte, error) {
	switch {
	case v.Negative:
		return nil, errors.New("cannot be negative here")
	case v.Bits > n.most():
		return nil, fmt.Errorf("does not fit into %d bytes", n.length)
	case n.empties && v.Bits == n.empty:
		return nil, errors.New("is the number that the format calls empty")
	}
	b := make([]byte, n.length)
	for i := range b {
		shift := 8 * i
		if n.big {
			shift = 8 * (n.length - 1 - i)
		}
		b[i] = byte(v.Bits >> shift)
	}
	return b, nil
}

// most returns the largest number.
func (n raw) most() uint64 { return ^uint64(0) >> (64 - 8*n.length) }
