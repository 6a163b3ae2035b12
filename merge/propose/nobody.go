package propose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// mostKey is the largest number that the column of a space takes.
func (s *space) mostKey(f *check.Facts) keys.Integer {
	_, model := rules.KeyModel(f.Resolved, s.Table)
	if c := model.Column(s.Column); c != nil {
		if most, known := c.Most(f.Model().Catalog.Engine); known {
			return most
		}
	}
	return keys.Integer{Bits: math.MaxUint64}
}

// has reports whether a number is a key in any database.
func (s *space) has(n keys.Integer) bool {
	for _, set := range s.sets {
		if set.Gap == "" && set.Integers.Has(n) {
			return true
		}
	}
	return false
}

// nobodyIn reports of the values of a column whether they name nobody, whatever it names:
// 0 and -1, what is too large or too small for the type of any key, and the largest that its
// own type holds, if no key is that.
func (x *examination) nobodyIn(f *check.Facts, column *catalog.Column) func(keys.Integer) bool {
	var most keys.Integer
	for _, s := range x.spaces {
		if m := s.mostKey(f); most.Less(m) {
			most = m
		}
	}
	signed := slices.ContainsFunc(x.spaces, func(s *space) bool { return !s.unsigned(f) })
	largest, known := column.Most(f.Model().Catalog.Engine)
	return func(n keys.Integer) bool {
		return nobody(n) || len(x.spaces) > 0 && (most.Less(n) || n.Negative && !signed) ||
			known && n == largest && !slices.ContainsFunc(x.spaces, func(s *space) bool { return s.has(n) })
	}
}

// none are the values of a column by which it names nobody, as a reference to the keys of a
// space.
func (e *examined) none(f *check.Facts, to *space) (all []string) {
	zero, minus, below := false, false, false
	for _, p := range e.parts {
		minus = minus || p.values.minus
		zero = zero || p.values.zero
		below = below || p.values.rows > 0 && p.values.lowest.Less(keys.Signed(-1))
	}
	if zero {
		all = append(all, "0")
	}
	switch {
	case below && to != nil && to.unsigned(f):
		all = append(all, "<0")
	case minus:
		all = append(all, "-1")
	}
	if to != nil {
		all = append(all, e.tooLarge(f, to)...)
	}
	return all
}

func (s *space) unsigned(f *check.Facts) bool {
	_, model := rules.KeyModel(f.Resolved, s.Table)
	c := model.Column(s.Column)
	return c != nil && strings.Contains(strings.ToLower(c.Type), "unsigned")
}

// tooLarge are the values of a column that no key of a space can be: the one that it has,
// or a bound if there may be several.
func (e *examined) tooLarge(f *check.Facts, to *space) []string {
	most := to.mostKey(f)
	largest, known := e.column.Most(f.Model().Catalog.Engine)
	var odd []keys.Integer
	several := false
	for _, p := range e.parts {
		here := 0
		for _, n := range p.values.top {
			if most.Less(n) || known && n == largest && !to.has(n) {
				here++
				if !slices.Contains(odd, n) {
					odd = append(odd, n)
				}
			}
		}
		several = several || here > 1 || here > 0 && p.values.sampled
	}
	switch {
	case len(odd) == 0:
		return nil
	case len(odd) == 1 && !several || most.Bits > math.MaxInt64:
		return slice.Map(odd, keys.Integer.String)
	default:
		return []string{fmt.Sprintf(">%s", most)}
	}
}
