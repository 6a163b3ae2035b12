package leave

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"mergesafe/merge/rekey"
)

// keys is a set of keys that grows and can be asked meanwhile.
type keys struct {
	signs [2]*roaring64.Bitmap // from 0 on, and negative
	n     int64
}

func newKeys() *keys { return &keys{signs: [2]*roaring64.Bitmap{roaring64.New(), roaring64.New()}} }

func (k *keys) of(n rekey.Integer) *roaring64.Bitmap {
	if n.Negative {
		return k.signs[1]
	}
	return k.signs[0]
}

// add reports whether the key is new.
func (k *keys) add(n rekey.Integer) bool {
	if !k.of(n).CheckedAdd(n.Bits) {
		return false
	}
	k.n++
	return true
}

func (k *keys) has(n rekey.Integer) bool { return k.of(n).Contains(n.Bits) }

func (k *keys) equal(other *keys) bool {
	return k.signs[0].Equals(other.signs[0]) && k.signs[1].Equals(other.signs[1])
}

func (k *keys) each(take func(n rekey.Integer)) {
	for i, negative := range []bool{false, true} {
		for it := k.signs[i].Iterator(); it.HasNext(); {
			take(rekey.Integer{Negative: negative, Bits: it.Next()})
		}
	}
}

// digest is the same for the same keys only.
func (k *keys) digest() string {
	h := sha256.New()
	k.each(func(n rekey.Integer) { fmt.Fprintln(h, n) })
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// set is what cannot grow any more.
func (k *keys) set() *rekey.Set {
	s := &rekey.Set{Exact: true}
	k.each(s.Add)
	s.Finish()
	return s
}
