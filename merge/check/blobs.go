package check

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// The measure of a guess about binary data: so many keys in a row, all of them so
// large that they are hardly there by chance.
const (
	blobKeys   = 3
	blobLeast  = 256
	blobStride = 64 // bytes, at most
)

// blobLayout is where integers seem to be in binary data.
type blobLayout struct {
	size   int // bytes of each: 4 or 8
	little bool
	first  int // where the first is
	stride int // from one to the next
}

func (l blobLayout) String() string {
	end := "big-endian"
	if l.little {
		end = "little-endian"
	}
	return fmt.Sprintf("%d bytes, %s, every %d bytes from byte %d on", l.size, end, l.stride, l.first)
}

// guessLayout looks for integers at a constant stride that are keys, from some place
// to the end of the data. It is a guess, and tries the narrowest strides first.
func guessLayout(data []byte, isKey func(uint64) bool) (l blobLayout, ok bool) {
	for _, size := range []int{4, 8} {
		for stride := size; stride <= min(blobStride, len(data)); stride += 4 {
			for first := 0; first < stride && first+stride*(blobKeys-1)+size <= len(data); first++ {
				for _, little := range []bool{true, false} {
					l := blobLayout{size, little, first, stride}
					if l.holds(data, isKey) {
						return l, true
					}
				}
			}
		}
	}
	return l, false
}

// holds reports whether all integers of the layout are keys.
func (l blobLayout) holds(data []byte, isKey func(uint64) bool) bool {
	var order binary.ByteOrder = binary.BigEndian
	if l.little {
		order = binary.LittleEndian
	}
	for at := l.first; at+l.size <= len(data); at += l.stride {
		v := uint64(0)
		if l.size == 4 {
			v = uint64(order.Uint32(data[at:]))
		} else {
			v = order.Uint64(data[at:])
		}
		if v < blobLeast || !isKey(v) {
			return false
		}
	}
	return true
}

// guessKeys says which keys of the database seem to be in a value, as Row shows it:
// "characters.guid: 4 bytes, little-endian, every 16 bytes from byte 4 on"; "" if
// none do.
func (r OpenReader) guessKeys(db *rules.Database, shown string) string {
	data, err := hex.DecodeString(strings.TrimPrefix(shown, "0x"))
	if err != nil || !strings.HasPrefix(shown, "0x") {
		return ""
	}
	for _, c := range r.UndeclaredKeys().inOrder() {
		set := r.UndeclaredKeys().Sets[c][db]
		if c.Class != IntegerClass || set == nil || set.Gap != "" || set.Integers.Sparse {
			continue
		}
		if l, ok := guessLayout(data, func(v uint64) bool { return set.Integers.Has(keys.Integer{Bits: v}) }); ok {
			return c.String() + ": " + l.String()
		}
	}
	return ""
}
