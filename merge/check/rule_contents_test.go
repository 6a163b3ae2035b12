package check_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

// Sums over all rows tell a row that was changed in place, in whatever order the
// rows come, and nothing else.
func TestContents(t *testing.T) {
	sums := func(plant func(b *mergetest.Database)) *verdict.Report {
		a, b := settled(1), settled(2)
		plant(b)
		return mustCheck(t, declare.Options{Contents: true}, a, b)
	}
	before := sums(func(*mergetest.Database) {})
	for name, test := range map[string]struct {
		plant func(b *mergetest.Database)
		want  string
	}{
		"nothing":       {func(*mergetest.Database) {}, ""},
		"another order": {func(b *mergetest.Database) { slices.Reverse(b.Rows["items"]) }, ""},
		"a value":       {func(b *mergetest.Database) { b.Rows["items"][3]["count"] = int64(7) }, "s2 items contents"},
		"NULL":          {func(b *mergetest.Database) { b.Rows["players"][3]["mail"] = "" }, "s2 players contents"},
		"two values that change places": {func(b *mergetest.Database) {
			rows := b.Rows["players"]
			rows[1]["gold"], rows[2]["gold"] = rows[2]["gold"], rows[1]["gold"]
		}, "s2 players contents"},
	} {
		var got []string
		for _, c := range check.Compare(before, sums(test.plant)) {
			got = append(got, c.World+" "+c.Table+" "+c.What)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	// A table that cannot be read in full has no sum, and says why.
	r := sums(func(b *mergetest.Database) {
		b.Intercept = func(scan catalog.Scan, seq iter.Seq2[*catalog.Batch, error]) iter.Seq2[*catalog.Batch, error] {
			if len(scan.Order) == 0 && scan.Table == "guilds" {
				return cannotSort(scan, seq)
			}
			return seq
		}
	})
	if got := r.Worlds[1].Tables[0]; got.Table != "guilds" || got.Contents != "" || !strings.Contains(got.NoContents, "no sorting form") {
		t.Errorf("got %+v", got)
	}
}
