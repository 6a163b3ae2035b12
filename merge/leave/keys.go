package leave

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"mergesafe/merge/keys"
)

// keys is a set of keys that grows and can be asked meanwhile.
type leftKeys struct {
	kinds keys.Kinds
	signs [2]*roaring64.Bitmap  // of integers: from 0 on, and negative
	other map[keys.Key]struct{} // of other kinds
	n     int64
}

func newKeys(kinds keys.Kinds) *leftKeys {
	return &leftKeys{kinds: kinds, signs: [2]*roaring64.Bitmap{roaring64.New(), roaring64.New()},
		other: make(map[keys.Key]struct{})}
}

func (k *leftKeys) of(n keys.Integer) *roaring64.Bitmap {
	if n.Negative {
		return k.signs[1]
	}
	return k.signs[0]
}

// add reports whether the key is new.
func (k *leftKeys) add(n keys.Key) bool {
	if k.kinds != "" {
		k.other[n] = struct{}{}
		added := int64(len(k.other)) > k.n
		k.n = int64(len(k.other))
		return added
	}
	if !k.of(n.Integer).CheckedAdd(n.Bits) {
		return false
	}
	k.n++
	return true
}

func (k *leftKeys) has(n keys.Key) bool {
	if k.kinds != "" {
		_, has := k.other[n]
		return has
	}
	return k.of(n.Integer).Contains(n.Bits)
}

func (k *leftKeys) equal(other *leftKeys) bool {
	return k.signs[0].Equals(other.signs[0]) && k.signs[1].Equals(other.signs[1]) && maps.Equal(k.other, other.other)
}

// all gives integers from 0 on, then negative ones; keys of other kinds in any order.
func (k *leftKeys) all(yield func(keys.Key) bool) {
	for i, negative := range []bool{false, true} {
		for it := k.signs[i].Iterator(); it.HasNext(); {
			if !yield(keys.Key{Integer: keys.Integer{Negative: negative, Bits: it.Next()}}) {
				return
			}
		}
	}
	for n := range k.other {
		if !yield(n) {
			return
		}
	}
}

// digest is the same for the same keys only.
func (k *leftKeys) digest() string {
	h := sha256.New()
	if k.kinds != "" {
		b, _ := k.set().AppendBinary(nil) // it is not sparse
		h.Write(b)
	} else {
		for n := range k.all {
			fmt.Fprintln(h, n)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// set is what cannot grow any more.
func (k *leftKeys) set() *keys.Set {
	s := &keys.Set{Exact: true, Kinds: k.kinds}
	for n := range k.all {
		s.AddKey(n)
	}
	s.Finish()
	return s
}
