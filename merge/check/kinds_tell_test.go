package check

import (
	"slices"
	"testing"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// of makes a group of distinct values that are keys, and of some that are not; each has a row. highest is the largest of them.
func of(value string, own, missing int, highest uint64) *group {
	g := &group{Kind: verdict.Kind{Value: value, Rows: int64(own + missing), Own: int64(own), Elsewhere: int64(missing)}, highest: highest}
	g.values, g.tested = make(map[looked]*seen), g.Rows
	for i := range own + missing {
		g.values[looked{n: keys.Integer{Bits: highest - uint64(i)}}] = &seen{i < own, int64(i), 1}
	}
	return g
}

// What is taken for another kind, and what is not, at the limits.
func TestLimits(t *testing.T) {
	db := new(rules.Database)
	few := func(value string, distinct int, rows int64, highest uint64) *group {
		g := of(value, distinct-1, 1, highest)
		g.Rows, g.Own, g.Elsewhere = rows, rows-rows/10, rows/10
		return g
	}
	elsewhere := func(g *group, rows int64) *group {
		g.Elsewhere = rows
		return g
	}
	for _, c := range []struct {
		name string
		odd  *group
		rest *group
		two  bool
	}{
		{"five that match nothing, all others match", of("4", 0, 5, 900), of("1", 1000, 0, 1000), true},
		{"four that match nothing, all others match", of("4", 0, 4, 900), of("1", 1000, 0, 1000), false},
		{"thrice as many", of("4", 700, 300, 900), of("1", 903, 97, 1000), true},
		{"less than thrice as many", of("4", 714, 286, 900), of("1", 904, 96, 1000), false},
		{"more, by chance in one of a million groups", of("4", 1010, 14, 900), of("1", 10000, 40, 1000), false},
		{"more, by no chance", of("4", 995, 29, 900), of("1", 10000, 40, 1000), true},
		{"most others match nothing", of("4", 0, 300, 900), of("1", 880, 120, 1000), false},
		{"keys in no other world", elsewhere(of("4", 500, 500, 900), 24), of("1", 990, 10, 1000), false},
		{"some keys in another world", elsewhere(of("4", 500, 500, 900), 25), of("1", 990, 10, 1000), true},
		{"low, just of enough rows", few("4", 10, 50, 50), of("1", 990, 10, 1000), true},
		{"low", few("4", 10, 100, 50), of("1", 990, 10, 1000), true},
		{"not so low", few("4", 10, 100, 51), of("1", 990, 10, 1000), false},
		{"low, of few rows", few("4", 10, 49, 50), of("1", 990, 10, 1000), false},
		{"low, and of few values", few("4", 6, 100, 50), of("1", 990, 10, 1000), false},
		{"low, and so are all", few("4", 10, 100, 25), of("1", 490, 10, 499), false},
		{"low, with few rows for each", few("4", 26, 100, 50), of("1", 990, 10, 1000), false},
	} {
		w := &kindRows{Highest: 1000, db: db}
		s := w.judge("kind", map[string]*group{"4": c.odd, "1": c.rest})
		if got := s != nil; got != c.two {
			t.Errorf("%s: %v, want %v", c.name, got, c.two)
		}
		if s != nil && (!slices.Equal(s.Other, []string{"4"}) || !slices.Equal(s.Is, []string{"1"})) {
			t.Errorf("%s: %+v", c.name, s.Kinds)
		}
	}
}

// Of the columns that tell kinds apart, the one counts that has most of the rows without a match in its groups, in the fewest of them.
func TestBestColumn(t *testing.T) {
	w := &kindRows{Highest: 1000, by: map[string]map[string]*group{
		"etype": {"4": of("4", 0, 300, 900), "1": of("1", 1000, 0, 1000)},
		"part":  {"4": of("4", 0, 200, 900), "1": of("1", 1000, 10, 1000)},
		"twice": {"4": of("4", 0, 150, 900), "5": of("5", 0, 150, 900), "1": of("1", 1000, 0, 1000)},
		"many":  nil,
	}}
	if s := w.Split(); s == nil || s.By != "etype" {
		t.Errorf("%+v, want etype", s)
	}
}
