package check

import (
	"encoding/binary"
	"testing"
)

// Integers at a constant stride are found, whatever their size and order.
func TestGuessLayout(t *testing.T) {
	isKey := func(v uint64) bool { return v >= 1000 && v < 2000 }
	for _, want := range []blobLayout{
		{4, true, 0, 4}, {4, false, 0, 4}, {4, true, 3, 16}, {8, true, 0, 8}, {8, false, 5, 24}, {4, false, 8, 12},
	} {
		data := make([]byte, 4*want.stride)
		for i := range 4 {
			at, v := data[want.first+i*want.stride:], uint64(1000+7*i)
			switch {
			case want.size == 4 && want.little:
				binary.LittleEndian.PutUint32(at, uint32(v))
			case want.size == 4:
				binary.BigEndian.PutUint32(at, uint32(v))
			case want.little:
				binary.LittleEndian.PutUint64(at, v)
			default:
				binary.BigEndian.PutUint64(at, v)
			}
		}
		got, ok := guessLayout(data, isKey)
		// The low half of a number of 8 bytes is one of 4.
		at := got.first + map[bool]int{true: 0, false: got.size}[got.little]
		if wantAt := want.first + map[bool]int{true: 0, false: want.size}[want.little]; !ok || got.stride != want.stride || got.little != want.little || at != wantAt {
			t.Errorf("%v: got %v, %v", want, got, ok)
		}
		if l, ok := guessLayout(data, func(v uint64) bool { return false }); ok {
			t.Errorf("%v without keys: %v", want, l)
		}
	}
	for _, data := range [][]byte{nil, {1, 2, 3}, make([]byte, 64)} {
		if l, ok := guessLayout(data, func(uint64) bool { return true }); ok {
			t.Errorf("%v: %v", data, l)
		}
	}
}
