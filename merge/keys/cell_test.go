package keys

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// by adds an offset to keys.
func by(offset uint64) func(CellKey) (Integer, error) {
	return func(k CellKey) (Integer, error) { return add(k.Value, offset) }
}

func add(v Integer, offset uint64) (Integer, error) {
	if sum, ok := v.Add(offset); ok {
		return sum, nil
	}
	return v, fmt.Errorf("%s + %d is too large", v, offset)
}

// back takes an offset away from keys.
func back(offset uint64) func(CellKey) (Integer, error) {
	return func(k CellKey) (Integer, error) {
		v, ok := k.Value.Sub(offset)
		if !ok {
			return v, fmt.Errorf("%s - %d is too small", k.Value, offset)
		}
		return v, nil
	}
}

func must(t testing.TB, text string) *Format {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != text {
		t.Fatalf("%s is called %s", text, f)
	}
	return f
}

// numbers are the values of keys.
func numbers(keys []CellKey) (all []string) {
	for _, k := range keys {
		all = append(all, k.Value.String())
	}
	return all
}

// without returns a cell without its keys, each of which leaves a mark.
func without(cell []byte, keys []CellKey) string {
	var b strings.Builder
	at := 0
	for _, k := range keys {
		b.Write(cell[at:k.Start])
		b.WriteString("<key>")
		at = k.End
	}
	b.Write(cell[at:])
	return b.String()
}

// roundTrip shows what is promised of a cell: keys, if they are known; identity; the bytes
// beside the keys after a shift; the way back. A cell that does not parse, and a shift that
// has no room, must be errors in all the ways to ask. It returns the shifted cell.
func roundTrip(t *testing.T, f *Format, cell []byte, offset uint64) (shifted []byte, err error) {
	t.Helper()
	before := bytes.Clone(cell)
	keys, err := f.Keys(cell)
	same, sameErr := f.Splice(cell, by(0))
	if (err == nil) != (sameErr == nil) {
		t.Fatalf("%s: %q: keys: %v, identity: %v", f, cell, err, sameErr)
	}
	if err != nil {
		if keys != nil || same != nil {
			t.Fatalf("%s: %q: %v, and keys %v, cell %q", f, cell, err, keys, same)
		}
		return nil, err
	}
	if !bytes.Equal(same, before) {
		t.Fatalf("%s: %q: identity gives %q", f, cell, same)
	}
	shifted, err = f.Splice(cell, by(offset))
	if !bytes.Equal(cell, before) {
		t.Fatalf("%s: %q: the cell was changed to %q", f, before, cell)
	}
	if err != nil {
		if shifted != nil {
			t.Fatalf("%s: %q: %v, and cell %q", f, cell, err, shifted)
		}
		return nil, err
	}
	after, err := f.Keys(shifted)
	if err != nil || len(after) != len(keys) {
		t.Fatalf("%s: %q: shifted %q: keys %v, %v", f, cell, shifted, after, err)
	}
	for i, k := range keys {
		if want, err := add(k.Value, offset); err != nil || after[i].Value != want || after[i].Tag != k.Tag {
			t.Fatalf("%s: %q: shifted %q: key %d is %v, was %v", f, cell, shifted, i, after[i], k)
		}
	}
	if f.bits == nil && without(shifted, after) != without(cell, keys) {
		t.Fatalf("%s: %q: shifted %q: other bytes have changed", f, cell, shifted)
	}
	old, err := f.Splice(shifted, back(offset))
	if err != nil || !bytes.Equal(old, before) {
		t.Fatalf("%s: %q: shifted %q and back: %q, %v", f, cell, shifted, old, err)
	}
	return shifted, nil
}

// example is a cell of a format: its keys, and the cell after a shift by 20,000,000; or
// what an error says.
type example struct{ format, cell, keys, shifted, fault string }

func (e example) run(t *testing.T) {
	t.Helper()
	f := must(t, e.format)
	keys, err := f.Keys([]byte(e.cell))
	if got := strings.Join(numbers(keys), " "); err == nil && got != e.keys {
		t.Errorf("%s: %q: keys %s, want %s", e.format, e.cell, got, e.keys)
	}
	shifted, err := roundTrip(t, f, []byte(e.cell), 20_000_000)
	switch {
	case e.fault == "" && err != nil:
		t.Errorf("%s: %q: %v", e.format, e.cell, err)
	case e.fault != "" && (err == nil || !strings.Contains(err.Error(), e.fault)):
		t.Errorf("%s: %q: %q, %v, want an error with %s", e.format, e.cell, shifted, err, e.fault)
	case string(shifted) != e.shifted:
		t.Errorf("%s: %q: shifted %q, want %q", e.format, e.cell, shifted, e.shifted)
	}
}

func run(t *testing.T, all []example) {
	t.Helper()
	for _, e := range all {
		e.run(t)
	}
}

// refused are formats that do not parse, and what the error says.
func refused(t *testing.T, all map[string]string) {
	t.Helper()
	for text, want := range all {
		if f, err := Parse(text); err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	refused(t, map[string]string{
		"":                         "at character 1: want the name of a format: list, regex, json, bits, records and array",
		"phpserialize":             `at character 1: "phpserialize" is not a format: known are list, regex, json, bits, records and array; words covers several columns`,
		"erlang term text":         `"erlang" is not a format`,
		"exec ./codec":             `"exec" is not a format`,
		"then":                     "at character 1: want the name of a format",
		"json '$' then":            "at character 14: want the name of a format",
		"json '$' then  lists":     `at character 16: "lists" is not a format`,
		"words [a, b]":             "words covers several columns",
		"list sep=' every":         "at character 10: the quote is not closed",
		"list sep=' 'every":        "at character 13: want a space",
		"list sep'x' every":        "at character 9: want a space or =",
		"list [a":                  "at character 6: want ]",
		"'list'":                   "at character 1: want the name",
		"=":                        "at character 1: want the name",
		"list sep=' ' every then":  "want the name of a format",
		"bits 0..3 then list":      "bits must be the last format",
		"bits 0..3 then bits 0..3": "bits must be the last format, and there can be only one",
		"list sep=' ' pos=0 pos=1": "at character 20: pos=1 does not belong here; right is: list sep=' ' pos=0",
		"json '$' then array":      "want count=",
		"regex '(a)' base=16 then list sep=' ' every":                     "base=16 does not belong here, as the format after then reads the number",
		"json '$' then array count=u8 elem=u8":                            "array cannot follow json",
		"json '$' then list sep=';' every then records size=4 at=0 len=1": "records cannot follow json",
	})
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"list sep=' ' pos=7", "regex 'x([0-9])'", "json '$.a'", "bits 0..3", "records size=4 at=0 len=1", "array count=u32le elem=u8"} {
		f := must(t, text)
		for _, cell := range [][]byte{nil, {}} {
			if keys, err := f.Keys(cell); err != nil || keys != nil {
				t.Errorf("%s: %v, %v", text, keys, err)
			}
			if out, err := f.Splice(cell, by(1)); err != nil || !bytes.Equal(out, cell) || (out == nil) != (cell == nil) {
				t.Errorf("%s: %v, %v", text, out, err)
			}
		}
	}
}

func TestFault(t *testing.T) {
	f := must(t, "list sep=' ' every")
	_, err := f.Keys([]byte("1 2 \x1b[2J" + strings.Repeat("é", 99)))
	want := `byte 4: "\x1b[2J` + strings.Repeat(`\u00e9`, 18) + `" and 162 more bytes: want a whole number, from -2^63 to 2^64-1, without leading zeros`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	refusal := errors.New("no such player")
	_, err = f.Splice([]byte("1 22 3"), func(k CellKey) (Integer, error) {
		if k.Value.Bits == 22 {
			return k.Value, refusal
		}
		return Signed(500), nil
	})
	if !errors.Is(err, refusal) || err.Error() != `byte 2: "22": no such player` {
		t.Error(err)
	}
}

// A cell is never written so that the format would not find the new keys in it.
func TestSpliceReadsAgain(t *testing.T) {
	run(t, []example{
		{format: "regex '#([0-9]{1,4})'", cell: "#12", keys: "12", fault: "with new values, the cell does not have the format"},
		{format: "regex '^#([0-9]{1,4})$|.+'", cell: "#12", keys: "12", fault: "with new values, the cell is \"#20000012\", in which the format finds other keys"},
	})
}

func TestSpliceRefuses(t *testing.T) {
	for _, e := range []struct {
		format, cell string
		value        int64
		fault        string
	}{
		{"records size=8 at=0 len=8 le", "12345678", -1, "new value -1: cannot be negative here"},
		{"regex '(.+)' base=16", "ff", -1, `byte 0: "ff": new value -1: cannot be negative here`},
		{"regex '(.+)' width=2 pad=' '", " 5", -1, "cannot be negative here"},
		{"bits 56..63", "-72057594037927936", 0, "the number would no longer be negative"},
		{"bits 0..63", "5", -1, "does not fit into the bits 0..63"},
	} {
		out, err := must(t, e.format).Splice([]byte(e.cell), func(CellKey) (Integer, error) { return Signed(e.value), nil })
		if out != nil || err == nil || !strings.Contains(err.Error(), e.fault) {
			t.Errorf("%s: %q: %q, %v, want %s", e.format, e.cell, out, err, e.fault)
		}
	}
}

func TestKeyPlaces(t *testing.T) {
	f := must(t, "list sep=',' every=2+0")
	keys, err := f.Keys([]byte("44,x,-5,y"))
	want := []CellKey{{Value: Signed(44), Start: 0, End: 2}, {Value: Signed(-5), Start: 5, End: 7}}
	if err != nil || !slices.Equal(keys, want) {
		t.Error(keys, err)
	}
}
