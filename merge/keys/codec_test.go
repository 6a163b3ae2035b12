package keys_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/inventory"
	"mergesafe/merge/keys"
)

// bags is the codec of the tests, as a keys.Codec.
type bags struct{ inventory.Codec }

func (b bags) Keys(c []byte) (all []keys.Integer, err error) {
	keyed, err := b.Codec.Keys(c)
	for _, k := range keyed {
		all = append(all, keys.Integer{Bits: k})
	}
	return all, err
}

func (b bags) Splice(c []byte, keys []keys.Integer) ([]byte, error) {
	var all []uint64
	for _, k := range keys {
		all = append(all, k.Bits)
	}
	return b.Codec.Splice(c, all)
}

func coded(t *testing.T, c keys.Codec) *keys.Row {
	t.Helper()
	r, err := keys.ParseRow("codec bags", "bag", keys.Codecs{"codec bags": c})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Only keys change, and what was put in is what is read.
func TestCodec(t *testing.T) {
	r := coded(t, bags{})
	for _, items := range [][]uint64{{7}, {1, 2, 1}, {127, 128, 1 << 40}, {}} {
		in := [][]byte{inventory.Bag("hers", items...)}
		out, err := r.Splice(in, shift)
		for i := range items {
			items[i] += 20_000_000
		}
		if want := inventory.Bag("hers", items...); err != nil || !bytes.Equal(out[0], want) {
			t.Errorf("%x, %v, want %x", out, err, want)
		}
	}
	for _, empty := range [][]byte{nil, {}} {
		if out, err := r.Splice([][]byte{empty}, shift); err != nil || len(out[0]) > 0 {
			t.Errorf("%q %v", out, err)
		}
	}
	same := [][]byte{inventory.Bag("", 7)}
	if out, err := r.Splice(same, func(k keys.CellKey) (keys.Integer, error) { return k.Value, nil }); err != nil || &out[0][0] != &same[0][0] {
		t.Errorf("%q %v", out, err)
	}
}

// A codec that does not do what it says is an error about the cell, with both directions.
func TestCodecThatLies(t *testing.T) {
	keep := func(k keys.CellKey) (keys.Integer, error) { return k.Value, nil }
	for lie, c := range map[string]struct {
		identity bool // whether it is seen without new keys
		want     string
	}{
		"identity": {true, "with the same keys put back"},
		"swap":     {false, "after the keys 20000001, 20000002 were put in, the codec finds 20000002, 20000001"},
		"drop":     {false, "after the keys 20000001, 20000002 were put in, the codec finds 20000001, 2 "},
	} {
		r, in := coded(t, bags{inventory.Codec{Lie: lie}}), [][]byte{inventory.Bag("", 1, 2)}
		if _, err := r.Splice(in, shift); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", lie, err)
		}
		if _, err := r.Splice(in, keep); (err != nil) != c.identity {
			t.Errorf("%s, with the same keys: %v", lie, err)
		}
	}
	// A number that is written with more bytes than it needs would become another cell.
	if _, err := coded(t, bags{}).Splice([][]byte{{1<<3 | 2, 3, 1 << 3, 0x81, 0}}, keep); err == nil {
		t.Error("a long number passes")
	}
	// It forgets what else was in the cell as soon as the keys are new.
	forgets := spliced{bags{}, func(out []byte, keys []keys.Integer) []byte {
		if keys[0].Bits > 1000 {
			return bytes.Replace(out, []byte("hers"), []byte("his!"), 1)
		}
		return out
	}}
	if _, err := coded(t, forgets).Splice([][]byte{inventory.Bag("hers", 1)}, shift); err == nil || !strings.Contains(err.Error(), "and then the old ones") {
		t.Error(err)
	}
	// It changes a key that another one finds, and does that in both directions.
	meddles, rest := coded(t, meddler{}), coded(t, restOnly{})
	bag := func(string) []byte { return inventory.Bag("", 1, 2) }
	if out, err := keys.SpliceAll([]*keys.Row{meddles, rest}, bag, func(_ int, k keys.CellKey) (keys.Integer, error) { return shift(k) }); err == nil || !strings.Contains(err.Error(), "finds other keys") {
		t.Errorf("%x %v", out, err)
	}
	// It may spoil what it is given.
	spoils := spliced{bags{}, func(out []byte, keys []keys.Integer) []byte { clear(keys); return out }}
	if _, err := coded(t, spoils).Splice([][]byte{inventory.Bag("hers", 1)}, shift); err != nil {
		t.Error(err)
	}
}

// spliced changes what another codec makes.
type spliced struct {
	bags
	change func(out []byte, keys []keys.Integer) []byte
}

func (s spliced) Keys(c []byte) ([]keys.Integer, error) {
	keys, err := s.bags.Keys(c)
	clear(c)
	return keys, err
}

func (s spliced) Splice(c []byte, keys []keys.Integer) ([]byte, error) {
	out, err := s.bags.Splice(c, keys)
	clear(c)
	return s.change(out, keys), err
}

// Of several codecs for one cell, none may touch what another one finds.
func TestCodecsOfOneCell(t *testing.T) {
	every, first := bags{}, firstOnly{}
	codecs := keys.Codecs{"codec every": every, "codec first": first, "codec rest": restOnly{}}
	parse := func(text string) *keys.Row {
		r, err := keys.ParseRow(text, "bag", codecs)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	bag := func(string) []byte { return inventory.Bag("", 1, 2, 3) }
	move := func(_ int, k keys.CellKey) (keys.Integer, error) { return shift(k) }
	out, err := keys.SpliceAll([]*keys.Row{parse("codec first"), parse("codec rest")}, bag, move)
	if want := inventory.Bag("", 20_000_001, 20_000_002, 20_000_003); err != nil || !bytes.Equal(out["bag"], want) {
		t.Errorf("%x %v", out, err)
	}
	for _, two := range [][2]string{{"codec first", "codec every"}, {"codec every", "codec rest"}, {"codec every", "codec every"}} {
		if out, err := keys.SpliceAll([]*keys.Row{parse(two[0]), parse(two[1])}, bag, move); err == nil || !strings.Contains(err.Error(), "finds other keys") {
			t.Errorf("%q: %x %v", two, out, err)
		}
	}
}

// meddler is firstOnly, and counts the second item up and down.
type meddler struct{ firstOnly }

func (meddler) Splice(c []byte, keyed []keys.Integer) ([]byte, error) {
	all, _ := bags{}.Keys(c)
	switch was, is := all[0].Bits > 1000, keyed[0].Bits > 1000; {
	case is && !was:
		all[1].Bits++
	case was && !is:
		all[1].Bits--
	}
	return bags{}.Splice(c, []keys.Integer{keyed[0], all[1]})
}

type (
	firstOnly struct{ bags }
	restOnly  struct{ bags }
)

func (firstOnly) Keys(c []byte) ([]keys.Integer, error) {
	all, err := bags{}.Keys(c)
	return all[:1], err
}

func (firstOnly) Splice(c []byte, keys []keys.Integer) ([]byte, error) {
	all, _ := bags{}.Keys(c)
	return bags{}.Splice(c, slices.Concat(keys, all[1:]))
}

func (restOnly) Keys(c []byte) ([]keys.Integer, error) {
	all, err := bags{}.Keys(c)
	return all[1:], err
}

func (restOnly) Splice(c []byte, keys []keys.Integer) ([]byte, error) {
	all, _ := bags{}.Keys(c)
	return bags{}.Splice(c, slices.Concat(all[:1], keys))
}

// That a codec cannot work is never said of a cell.
func TestCodecThatCannotWork(t *testing.T) {
	broken := failing{&keys.CodecError{Codec: "codec bags", Err: errors.New("no such dictionary")}}
	r := coded(t, broken)
	_, keysErr := r.Keys([][]byte{{1}})
	_, spliceErr := r.Splice([][]byte{{1}}, shift)
	for _, err := range []error{keysErr, spliceErr} {
		if _, is := errors.AsType[*keys.CodecError](err); !is || err.Error() != `codec "codec bags": no such dictionary` {
			t.Error(err)
		}
	}
}

type failing struct{ err error }

func (f failing) Keys([]byte) ([]keys.Integer, error)           { return nil, f.err }
func (f failing) Splice([]byte, []keys.Integer) ([]byte, error) { return nil, f.err }

func TestCodecFormats(t *testing.T) {
	for text, want := range map[string]string{
		"codec bags": "", "codec": "want the name", "codec two words": "want the name", "codec ": "want the name",
		"exec ./codec": "", "exec ./codec 'a b' c": "", "exec": "want a command", "exec ''": "want a command", "exec 'a": "not closed", "exec a\nb": "control",
		"list sep=' ' every": "", "words [a, b]": "", "execute": "not a format",
	} {
		if err := keys.Validate(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	words, err := keys.CommandLine("exec  './my codec' it''s 'it''s' '' -a=b")
	if want := []string{"./my codec", "its", "it's", "", "-a=b"}; err != nil || !slices.Equal(words, want) {
		t.Errorf("%q %v", words, err)
	}
	missing := new(keys.NoCodecError)
	if _, err := keys.ParseRow("codec bags", "bag", nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), `"codec bags"`) {
		t.Error(err)
	}
}
