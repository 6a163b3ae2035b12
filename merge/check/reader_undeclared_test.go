package check_test

import (
	"slices"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
)

// That a plain column is open is all that is said of it, so what comes after the row that
// shows it is not read; and a column of which the first rows show nothing is read in full.
func TestPlainColumnsAreReadUntilTheyAreOpen(t *testing.T) {
	for _, c := range []struct {
		name     string
		row      int // with the key of a stranger; -1: there is none
		want     [2]int
		wantOpen int
	}{
		{"first row", 0, [2]int{2, 0}, 1},
		{"last row", 39, [2]int{42, 42}, 1},
		{"no row", -1, [2]int{42, 42}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var read [2]int
			dbs := []*mergetest.Database{game("a", 1, 40), game("b", 101, 40)}
			for i, db := range dbs {
				t := &db.Schema.Tables[0] // its values are not kept while its key is read
				t.Primary, t.Uniques = nil, []catalog.Unique{{Columns: t.Primary}}
				eachBatch(db, func(scan catalog.Scan, b *catalog.Batch) {
					if slices.Contains(scan.Carry, "guild_id") {
						read[i] += b.Len
					}
				})
			}
			if c.row >= 0 {
				dbs[0].Rows["characters"][c.row]["guild_id"] = int64(107)
			}
			opts := rules.Options{Rules: []rules.Declarations{{Plain: []string{"characters.guild_id"}}}}
			report, err := checkLookingFirst(t.Context(), sources(dbs...), opts, 2)
			if err != nil {
				t.Fatal(err)
			}
			if c.wantOpen == 1 && !slices.Equal(report.PlainOpen, []string{"characters.guild_id"}) {
				t.Errorf("the column is named %q", report.PlainOpen)
			}
			if report.Plain != c.wantOpen || read != c.want {
				t.Errorf("%d plain columns are open, and %d rows of it were read: want %d, %d", report.Plain, read, c.wantOpen, c.want)
			}
		})
	}
}
