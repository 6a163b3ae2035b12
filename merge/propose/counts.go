package propose

import (
	"math/bits"
	"slices"

	"mergesafe/merge/check"
	"mergesafe/merge/keys"
)

// valueCounts counts the rows of each whole number in a column, in bounded memory: the
// small ones in an array; of the others, if they are many, those whose hash is low
// enough, so that what is kept is a fair sample of the distinct values, each with the
// exact number of its rows.
type valueCounts struct {
	rows   int64 // with a whole number
	others int64 // with something else
	few    bool  // it has no room for small values of its own

	small   []uint32 // rows by value
	large   map[keys.Integer]int64
	most    uint64 // the highest hash that is kept
	larges  int64  // rows with a large value, kept or not
	halved  int    // times that the sample was halved
	lowest  keys.Integer
	highest keys.Integer
}

// maxLarge is how many distinct large values of a column are kept.
const maxLarge = 1 << 15

func newValueCounts() *valueCounts { return &valueCounts{most: ^uint64(0)} }

func (c *valueCounts) add(n keys.Integer) {
	if c.rows == 0 || n.Less(c.lowest) {
		c.lowest = n
	}
	if c.rows == 0 || c.highest.Less(n) {
		c.highest = n
	}
	c.rows++
	if !n.Negative && n.Bits < check.SmallIntegers && !c.few {
		if c.small == nil {
			c.small = make([]uint32, check.SmallIntegers)
		}
		c.small[n.Bits]++
		return
	}
	c.larges++
	if hashOfInteger(n) > c.most {
		return
	}
	if c.large == nil {
		c.large = make(map[keys.Integer]int64)
	}
	c.large[n]++
	for len(c.large) > maxLarge {
		c.most >>= 1
		c.halved++
		for v := range c.large {
			if hashOfInteger(v) > c.most {
				delete(c.large, v)
			}
		}
	}
}

// hashOfInteger spreads numbers evenly (splitmix64).
func hashOfInteger(n keys.Integer) uint64 {
	z := n.Bits + 0x9E3779B97F4A7C15
	if n.Negative {
		z = bits.Reverse64(z)
	}
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// valueRows is a value and the number of its rows.
type valueRows struct {
	value keys.Integer
	rows  int64
}

// values returns the distinct values that were kept, in ascending order. Each large
// one stands for 2^halved.
func (c *valueCounts) values() (all []valueRows) {
	for v, n := range c.large {
		all = append(all, valueRows{v, n})
	}
	for v, n := range c.small {
		if n > 0 {
			all = append(all, valueRows{keys.Integer{Bits: uint64(v)}, int64(n)})
		}
	}
	slices.SortFunc(all, func(a, b valueRows) int { return a.value.Compare(b.value) })
	return all
}

// exact reports whether all values were kept.
func (c *valueCounts) exact() bool { return c.halved == 0 }
