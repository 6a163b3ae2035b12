package keys

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func keyOf(t *testing.T, kinds Kinds, values ...string) Key {
	t.Helper()
	k, ok := kinds.Key(func(i int) []byte { return []byte(values[i]) })
	if !ok {
		t.Fatalf("%q: no key of %q", kinds, values)
	}
	return k
}

// A set of keys of several columns knows its keys, and is the same when it was written and read.
func TestSetOfOtherKeys(t *testing.T) {
	for _, c := range []struct {
		kinds Kinds
		keys  [][]string
		text  string // of the first
		other []string
		sql   string
	}{
		{"ii", [][]string{{"1", "12"}, {"11", "2"}, {"-3", "0"}}, "-3/0", []string{"1", "2"}, "(a IS NOT NULL AND b IS NOT NULL AND CONCAT(a + 0, ',', b + 0) IN ('1,12', '-3,0', '11,2'))"},
		{"t", [][]string{{"it's"}, {"é"}, {""}}, "", []string{"IT'S"}, "(a IS NOT NULL AND HEX(a) IN ('', 'C3A9', '69742773'))"},
		{"b", [][]string{{"\x00\x01"}, {"ab"}}, "0001", []string{"\x00"}, "(a IS NOT NULL AND a IN (x'0001', x'6162'))"},
		{"it", [][]string{{"7", "x"}}, "7/x", []string{"7", "X"}, "(a IS NOT NULL AND b IS NOT NULL AND CONCAT(a + 0, ',', HEX(b)) IN ('7,78'))"},
	} {
		s := &Set{Exact: true, Kinds: c.kinds}
		for _, k := range slices.Concat(c.keys, c.keys) {
			s.AddKey(keyOf(t, c.kinds, k...))
		}
		s.Finish()
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		again := new(Set)
		if err := again.UnmarshalText(text); err != nil || !again.Equal(s) || again.Kinds != c.kinds {
			t.Fatalf("%q: read %+v, %v", c.kinds, again, err)
		}
		var all []Key
		for k := range again.Keys() {
			all = append(all, k)
		}
		for _, k := range all {
			if parsed, ok := c.kinds.Parse(k.String()); !ok || parsed != k {
				t.Errorf("%q: %s is %v, %v", c.kinds, k, parsed, ok)
			}
		}
		for _, k := range c.keys {
			if key := keyOf(t, c.kinds, k...); !again.HasKey(key) || !slices.Contains(all, key) {
				t.Errorf("%q: %q is not there", c.kinds, k)
			}
		}
		if again.HasKey(keyOf(t, c.kinds, c.other...)) || again.Len() != int64(len(c.keys)) || len(all) != len(c.keys) {
			t.Errorf("%q: %d keys, and %q", c.kinds, again.Len(), c.other)
		}
		if got := again.SQL([]string{"a", "b"}[:len(c.kinds)]...); got != c.sql {
			t.Errorf("%q: %s", c.kinds, got)
		}
		if first := slices.MinFunc(all, Key.Compare); first.String() != c.text {
			t.Errorf("%q: the first key is %s, want %s", c.kinds, first, c.text)
		}
	}
}

// No two keys have the same text, whatever is in their values, and each is read back from its own.
func TestKeyTexts(t *testing.T) {
	values := []string{"", "/", "x", "x/y", "/x", "%", "%2F", "%252F", "%2f"}
	texts := make(map[string]Key)
	for _, a := range values {
		if k := keyOf(t, "t", a); k.String() != a {
			t.Errorf("%q alone is written %q", a, k)
		}
		for _, b := range values {
			k := keyOf(t, "tt", a, b)
			if other, taken := texts[k.String()]; taken {
				t.Errorf("%q is %q and %q", k, k.Values(), other.Values())
			}
			texts[k.String()] = k
			if again, ok := Kinds("tt").Parse(k.String()); !ok || again != k {
				t.Errorf("%q is read as %q, want %q", k, again.Values(), k.Values())
			}
		}
	}
	for text, kinds := range map[string]Kinds{"x": "tt", "x/y/z": "tt", "x/%": "tt", "x/%2f": "tt", "1/x": "ib", "abc": "b", "x/0g": "tb"} {
		if k, ok := kinds.Parse(text); ok {
			t.Errorf("%q is the key %q of %q", text, k.Values(), kinds)
		}
	}
}

// A damaged form is no set.
func TestSetOfOtherKeysDamaged(t *testing.T) {
	s := &Set{Exact: true, Kinds: "it"}
	s.AddKey(keyOf(t, "it", "7", "seven"))
	s.Finish()
	whole, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 1
		if new(Set).UnmarshalBinary(damaged) == nil || new(Set).UnmarshalBinary(whole[:i]) == nil {
			t.Errorf("byte %d of %d: no error", i, len(whole))
		}
	}
	for _, b := range []string{"", "\x05it", "\x02iti\x01", "\x02iti\x017", "\x02 itt\x017t\x01a", "\x01iq\x01a", "\x01ti\x017", "\x01tt\x01bt\x01a"} {
		if err := new(Set).readValues([]byte(b)); err == nil {
			t.Errorf("%q: no error", b)
		}
	}
}

// NULL is no key, numbers are compared as such, and what a column has among some values tells.
func TestKey(t *testing.T) {
	if _, ok := Kinds("it").Key(func(i int) []byte { return [][]byte{[]byte("1"), nil}[i] }); ok {
		t.Error("NULL is a key")
	}
	if _, ok := Kinds("it").Key(func(i int) []byte { return []byte("x") }); ok {
		t.Error("x is an integer")
	}
	if a, b := keyOf(t, "it", "007", "x"), keyOf(t, "it", "7", "x"); a != b {
		t.Error("007 is not 7")
	}
	a, b := keyOf(t, "it", "9", "x"), keyOf(t, "it", "10", "a")
	if a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 || Kinds("").mustKey("-1").Compare(Kinds("").mustKey("0")) >= 0 {
		t.Error("the order is not that of numbers")
	}
	if image := a.Image(func(column int, n Integer) Integer { n.Bits += uint64(column) + 1; return n }); image.String() != "10/x" {
		t.Error(image)
	}
	none, err := ParseValues([]string{"9", "y"})
	if err != nil || !a.Among([]Values{none, {}}) || a.Among([]Values{{}, none}) || !keyOf(t, "t", "y").Among([]Values{none}) {
		t.Error("among", err)
	}
	s := &Set{Exact: true, Kinds: "t"}
	for _, text := range strings.Fields("x y z") {
		s.AddKey(keyOf(t, "t", text))
	}
	if s.Finish(); s.Without(none).Len() != 2 || s.Without(Values{}) != s {
		t.Error("without")
	}
}

func (k Kinds) mustKey(text string) Key {
	key, _ := k.Key(func(int) []byte { return []byte(text) })
	return key
}
