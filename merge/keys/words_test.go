package keys

import (
	"fmt"
	"strings"
	"testing"
)

func cells(texts ...string) (all [][]byte) {
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

func joined(cells [][]byte) string {
	var texts []string
	for _, c := range cells {
		texts = append(texts, string(c))
	}
	return strings.Join(texts, " ")
}

func TestWords(t *testing.T) {
	for _, e := range []struct{ format, cells, key, shifted, fault string }{
		{format: "words [card2, card3]", cells: "5 0", key: "5", shifted: "11525 305"}, // 20,000,005 = 305 * 65,536 + 11,525
		{format: "words [card2, card3] be", cells: "0 5", key: "5", shifted: "305 11525"},
		{format: "words [card2, card3] each=16 le", cells: "65535 65535", key: "4294967295", fault: "key 4294967295: new value 4314967295: does not fit into 32 bits"},
		{format: "words [high,low] each=32 be", cells: "1 0", key: "4294967296", shifted: "1 20000000"},
		{format: "words [a, b, c, d]", cells: "0 0 0 1", key: "281474976710656", shifted: "11520 305 0 1"},
		{format: "words [card2, card3]", cells: "65536 0", fault: `column "card2": byte 0: "65536": want a number from 0 to 65535`},
		{format: "words [card2, card3]", cells: "0 -1", fault: `column "card3": byte 0: "-1": want a number from 0 to 65535`},
		{format: "words [card2, card3]", cells: "0 x", fault: `column "card3": byte 0: "x": want a whole number`},
		{format: "words [card2, card3]", cells: "0 ", fault: "1 of the columns card2, card3 are empty, but others are not"},
		{format: "words [card2, card3]", cells: "1", fault: "want 2 cells, but there are 1"},
		{format: "words [card2, card3]", cells: " ", shifted: " "},
	} {
		w, err := ParseWords(e.format)
		if err != nil || !isWords(e.format) || w.String() != e.format {
			t.Fatal(e.format, err)
		}
		row := cells(strings.Split(e.cells, " ")...)
		k, ok, err := w.Key(row)
		if err == nil && (ok != (e.key != "") || ok && k.Value.String() != e.key) {
			t.Errorf("%s: %s: key %v, %v, want %s", e.format, e.cells, k, ok, e.key)
		}
		shifted, err := w.Splice(row, by(20_000_000))
		if e.fault != "" {
			if err == nil || !strings.Contains(err.Error(), e.fault) {
				t.Errorf("%s: %s: %v, want %s", e.format, e.cells, err, e.fault)
			}
			continue
		}
		if err != nil || joined(shifted) != e.shifted || joined(row) != e.cells {
			t.Errorf("%s: %s: shifted %s, %v, want %s", e.format, row, shifted, err, e.shifted)
		}
	}
	for text, want := range map[string]string{
		"":                               "want the name of a format",
		"list sep=' ' every":             "words cannot be combined",
		"words [a, b] then bits 0..3":    "words cannot be combined",
		"words":                          "want two or more columns",
		"words [a]":                      "want two or more columns",
		"words [a, b, c] each=32":        "together at most 64 bits",
		"words [a, a]":                   "at character 7: want names of different columns",
		"words [a, ]":                    "want names of different columns",
		"words [a, b":                    "at character 7: want ]",
		"words [a, b] each=33":           "want each= and a number from 1 to 32",
		"words [a, b] le be":             "le and be exclude each other",
		"words [a, b] width=8":           "width=8 does not belong here; right is: words [card2, card3] each=16 le (or be)",
		"words [a, b] [c, d]":            "[c, d] does not belong here",
		"words[a, b]":                    "at character 6: want a space",
		strings.Repeat("words [a] ", 99): "want two or more columns",
	} {
		if _, err := ParseWords(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if !isWords(" words[a, b]") || isWords("wordy [a]") || isWords("list sep='words' every") {
		t.Error("isWords")
	}
	w, _ := ParseWords("words [a, b]")
	if w.Columns()[1] != "b" {
		t.Error(w.Columns())
	}
}

// The oracle builds a key from its words by multiplication.
func FuzzWords(f *testing.F) {
	f.Add("5", "0", uint64(20_000_000), true)
	f.Add("65535", "65535", uint64(1), false)
	f.Add("", "", uint64(1), false)
	f.Add("-0", "007", uint64(1), false)
	f.Fuzz(wordsRoundTrip)
}

func wordsRoundTrip(t *testing.T, a, b string, offset uint64, big bool) {
	text := "words [a, b]"
	if big {
		text += " be"
	}
	w, err := ParseWords(text)
	if err != nil {
		t.Fatal(err)
	}
	row := cells(a, b)
	k, ok, err := w.Key(row)
	same, sameErr := w.Splice(row, by(0))
	if (err == nil) != (sameErr == nil) || err == nil && joined(same) != joined(row) {
		t.Fatalf("%q: %v; identity gives %q, %v", row, err, same, sameErr)
	}
	if err != nil || !ok {
		return
	}
	var low, high uint64
	fmt.Sscan(a, &low)
	fmt.Sscan(b, &high)
	if big {
		low, high = high, low
	}
	if k.Value != (Integer{Bits: high*65536 + low}) {
		t.Fatalf("%s: %q: %v", text, row, k)
	}
	shifted, err := w.Splice(row, by(offset))
	if err != nil {
		return
	}
	after, _, err := w.Key(shifted)
	if want, _ := k.Value.Add(offset); err != nil || after.Value != want {
		t.Fatalf("%s: %q: shifted %q: %v, %v", text, row, shifted, after, err)
	}
	if old, err := w.Splice(shifted, back(offset)); err != nil || joined(old) != joined(row) {
		t.Fatalf("%s: %q: shifted %q and back %q, %v", text, row, shifted, old, err)
	}
}
