package keys

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
)

// Pair is a key of a source that becomes one which is there already.
type Pair struct{ Old, New Integer }

// Pairs are the keys of one source that get no number added: each becomes the key of the
// same thing in another world. No two keys become one, and the nil Pairs has none.
//
// The text form has them in the order of the old keys: "5:17 6:3".
type Pairs struct {
	all  []Pair // by Old
	back []int  // places in all, by New
}

// NewPairs makes pairs, in any order. A key that is there twice, on either side, is an error.
func NewPairs(all []Pair) (*Pairs, error) {
	p := &Pairs{all: slices.Clone(all), back: make([]int, len(all))}
	slices.SortFunc(p.all, func(a, b Pair) int { return a.Old.Compare(b.Old) })
	for i := range p.back {
		p.back[i] = i
	}
	slices.SortFunc(p.back, func(a, b int) int { return p.all[a].New.Compare(p.all[b].New) })
	for i := 1; i < len(p.all); i++ {
		if p.all[i].Old == p.all[i-1].Old {
			return nil, fmt.Errorf("the key %s would become two", p.all[i].Old)
		}
		if a, b := p.all[p.back[i-1]], p.all[p.back[i]]; a.New == b.New {
			return nil, fmt.Errorf("the keys %s and %s would both become %s", a.Old, b.Old, a.New)
		}
	}
	return p, nil
}

// Len is how many there are.
func (p *Pairs) Len() int {
	if p == nil {
		return 0
	}
	return len(p.all)
}

// Image returns what an old key becomes; ok is false if it is not of a pair.
func (p *Pairs) Image(old Integer) (image Integer, ok bool) {
	n := p.Len()
	i := sort.Search(n, func(i int) bool { return !p.all[i].Old.Less(old) })
	if i == n || p.all[i].Old != old {
		return image, false
	}
	return p.all[i].New, true
}

// Old returns the key that became another one; ok is false if that is not of a pair.
func (p *Pairs) Old(image Integer) (old Integer, ok bool) {
	n := p.Len()
	i := sort.Search(n, func(i int) bool { return !p.all[p.back[i]].New.Less(image) })
	if i == n || p.all[p.back[i]].New != image {
		return old, false
	}
	return p.all[p.back[i]].Old, true
}

// All are the pairs in the order of the old keys.
func (p *Pairs) All() iter.Seq2[Integer, Integer] {
	return func(yield func(old, image Integer) bool) {
		for i := range p.Len() {
			if !yield(p.all[i].Old, p.all[i].New) {
				return
			}
		}
	}
}

// Equal reports whether both have the same pairs.
func (p *Pairs) Equal(other *Pairs) bool {
	return p.Len() == other.Len() && (p.Len() == 0 || slices.Equal(p.all, other.all))
}

// MarshalText implements [encoding.TextMarshaler].
func (p *Pairs) MarshalText() ([]byte, error) {
	var b bytes.Buffer
	for old, image := range p.All() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(old.String() + ":" + image.String())
	}
	return b.Bytes(), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Pairs) UnmarshalText(text []byte) error {
	var all []Pair
	for one := range strings.FieldsSeq(string(text)) {
		a, b, _ := strings.Cut(one, ":")
		old, ok := ParseInteger([]byte(a))
		image, also := ParseInteger([]byte(b))
		if !ok || !also {
			return fmt.Errorf("the pair %.40q is not a pair of keys", one)
		}
		all = append(all, Pair{old, image})
	}
	read, err := NewPairs(all)
	if err == nil {
		*p = *read
	}
	return err
}
