package keys

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Pairs lead there and back, and are the same when they were written and read.
func TestPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		olds := rapid.SliceOfDistinct(rapid.Int64(), rapid.ID[int64]).Draw(t, "old")
		news := rapid.SliceOfNDistinct(rapid.Uint64(), len(olds), len(olds), rapid.ID[uint64]).Draw(t, "new")
		var all []Pair
		want := make(map[Integer]Integer)
		for i := range olds {
			p := Pair{Signed(olds[i]), Integer{Bits: news[i]}}
			all, want[p.Old] = append(all, p), p.New
		}
		p, err := NewPairs(all)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := p.MarshalText()
		read := new(Pairs)
		if err := read.UnmarshalText(text); err != nil || !read.Equal(p) || read.Len() != len(olds) {
			t.Fatalf("%s: %v", text, err)
		}
		for old, image := range read.All() {
			if want[old] != image {
				t.Errorf("%s became %s, want %s", old, image, want[old])
			}
			there, ok := read.Image(old)
			back, also := read.Old(image)
			if there != image || !ok || back != old || !also {
				t.Errorf("%s: %s %t, %s: %s %t", old, there, ok, image, back, also)
			}
		}
		odd := Signed(rapid.Int64().Draw(t, "odd"))
		if _, is := want[odd]; !is {
			if _, ok := p.Image(odd); ok {
				t.Errorf("%s is of no pair", odd)
			}
		}
	})
}

func TestPairsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"1:2 1:3": "the key 1 would become two",
		"1:2 3:2": "the keys 1 and 3 would both become 2",
		"1:x":     `"1:x" is not a pair of keys`,
		"12":      `"12" is not a pair of keys`,
	} {
		if err := new(Pairs).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	var none *Pairs
	if _, ok := none.Image(Integer{}); ok || none.Len() != 0 || !none.Equal(new(Pairs)) {
		t.Error("no pairs have one")
	}
}

// A shift with pairs says the same in SQL's words as in Go's: the pairs first, values that stay
// before all.
func TestShiftMatched(t *testing.T) {
	p, err := NewPairs([]Pair{{Signed(5), Signed(17)}, {Signed(0), Signed(3)}})
	if err != nil {
		t.Fatal(err)
	}
	stay, err := ParseValues([]string{"0"})
	if err != nil {
		t.Fatal(err)
	}
	s := &Shift{By: 100, Stay: stay, Match: p}
	for n, want := range map[int64]int64{5: 17, 17: 117, 0: 0, 3: 103} {
		if image, ok := s.Image(Signed(n)); !ok || image != Signed(want) {
			t.Errorf("%d became %s, want %d", n, image, want)
		}
	}
	if got, want := s.SQL("id"), "CASE WHEN id NOT IN ('0') THEN CASE id WHEN 0 THEN 3 WHEN 5 THEN 17 ELSE id + 100 END ELSE id END"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
