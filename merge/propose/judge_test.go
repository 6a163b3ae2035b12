package propose

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/verdict"
)

var update = flag.Bool("update", false, "rewrite testdata/clues.txt")

// testdata/clues.txt is the order of the clues, for those who ask what beats what: a change of it changes proposals.
func TestClues(t *testing.T) {
	var b strings.Builder
	for _, c := range clues {
		fmt.Fprintf(&b, "%-9s %4.2f  %s\n", c.class, c.doubt, c.why)
	}
	const file = "testdata/clues.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || b.String() != string(want) {
		t.Errorf("%v: got\n%s", err, &b)
	}
}

// What is known of a column beats its values, and a column without any clue is plain.
func TestFirstClueDecides(t *testing.T) {
	filled := columnSummary{rows: 9, distinct: 9}
	number := catalog.Column{Name: "level", Type: "int", Kind: catalog.KindInteger}
	opaque, text := number, number
	opaque.Opaque, text.Kind = "JSON", catalog.KindOther
	for _, c := range []struct {
		column catalog.Column
		values columnSummary
		place  keyPlace
		unread string
		class  verdict.ColumnClass
		reason string
	}{
		{opaque, filled, countedKey, "no right", verdict.ClassOpaque, "JSON: its contents are not read"},
		{text, filled, countedKey, "no right", verdict.ClassPlain, "no numbers"},
		{number, filled, countedKey, "no right", verdict.ClassUndecided, "could not be read: no right"},
		{number, columnSummary{}, countedKey, "", verdict.ClassKey, "the database numbers it"},
		{number, columnSummary{others: 3}, inNoKey, "", verdict.ClassPlain, "no numbers"},
		{number, columnSummary{}, inNoKey, "", verdict.ClassEmpty, "no values"},
		{number, filled, singleKey, "", verdict.ClassKey, "a key of its own"},
		{number, filled, inKey, "", verdict.ClassShared, partOfKey},
		{number, filled, inNoKey, "", verdict.ClassPlain, byChance},
	} {
		e := &examined{table: "heroes", column: &c.column, place: c.place, unread: c.unread, parts: []examinedPart{{values: c.values}}}
		if j := classifierOf(e).judge(e); j.class != c.class || j.reason != c.reason || j.to != nil {
			t.Errorf("want %s, %q, got %s, %q", c.class, c.reason, j.class, j.reason)
		}
	}
}
