package propose

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
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

// A third of all rows, and of all keys, was deleted, so that a reference hits the gaps like any number. It is a question nevertheless
// if keys have more rows than what lies between them, if fewer of its values are keys than by chance, or if its values end where the
// keys do; other numbers are none.
func TestReferencesToDeletedRows(t *testing.T) {
	db, last := &rules.Database{Name: "a"}, 3000
	var all []uint64
	for n := range uint64(last) {
		if n%3 > 0 || n == 0 {
			all = append(all, n+1)
		}
	}
	set := keySetOf(all...)
	items := &space{Candidate: check.Candidate{Table: "items", Column: "id", Class: check.IntegerClass}, size: int64(len(all)), sets: map[*rules.Database]*check.KeySet{db: set}}
	random := rand.New(rand.NewPCG(1, 2))
	var others []uint64 // that end there too, and that more values are
	for n := range uint64(last) {
		if random.IntN(4) > 0 {
			others = append(others, n+1)
		}
	}
	mails := &space{Candidate: check.Candidate{Table: "mails", Column: "id", Class: check.IntegerClass}, size: int64(len(others)), sets: map[*rules.Database]*check.KeySet{db: keySetOf(others...)}}
	number := catalog.Column{Name: "val", Type: "int", Kind: catalog.KindInteger}
	isKey := func(n int) bool { return set.Integers.Has(keys.Signed(int64(n))) }
	moreOfKeys := func(upTo int) func(add func(n int)) {
		return func(add func(n int)) {
			for n := 1; n <= upTo; n++ {
				add(n)
				for range 2 {
					if isKey(n) {
						add(n)
					}
				}
			}
			add(2 * last)
		}
	}
	drawn := func(values, below int) func(add func(n int)) {
		return func(add func(n int)) {
			for range values {
				add(1 + random.IntN(below))
			}
		}
	}
	for name, c := range map[string]struct {
		fill     func(add func(n int))
		question bool
	}{
		"keys have more rows":                 {moreOfKeys(last), true},
		"of low numbers, those that are keys": {moreOfKeys(last / 2), false}, // such as counts, of which low ones are more frequent
		"fewer are keys": {func(add func(n int)) {
			for n := 1; n <= last; n++ {
				if !isKey(n) || n%2 > 0 || n%10 == 0 {
					add(n)
				}
			}
		}, true},
		"ends where the keys do": {drawn(600, last), true},
		"goes on":                {drawn(600, last*5/4), false},
		"ends before":            {drawn(600, last*3/4), false},
		"few values":             {drawn(200, last), false},
	} {
		for place, without := range map[keyPlace]verdict.ColumnClass{inNoKey: verdict.ClassPlain, inKey: verdict.ClassShared} {
			e := &examined{table: "heroes", column: &number, place: place}
			values := &columnValues{valueCounts: newValueCounts()}
			c.fill(func(n int) { values.add(keys.Signed(int64(n))) })
			e.parts = []examinedPart{compareWithKeys(db, values, []*space{mails, items}, e, nobody)}
			j := classifierOf(e, mails, items).judge(e)
			if is := j.class == verdict.ClassUndecided && (j.to == items || name == "ends where the keys do"); is != c.question || !is && j.class != without {
				t.Errorf("%s, in a key %v: %s, %s", name, place == inKey, j.class, j.reason)
			}
		}
	}
}
