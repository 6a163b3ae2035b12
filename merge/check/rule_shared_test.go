package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A column that is declared shared means the same in all worlds. If the names beside it say that it does not, it is NOT
// VERIFIED: block 1 is stone here and dirt there. A few names may have changed.
func TestSharedContradicted(t *testing.T) {
	materials := catalog.Table{Name: "material_map", Primary: []string{"rowid"}, AutoIncrement: &catalog.AutoIncrement{Column: "rowid", Next: 1000, Max: 1<<31 - 1},
		Columns: []catalog.Column{{Name: "rowid", Type: "int", Kind: catalog.KindInteger}, {Name: "id", Type: "int", Kind: catalog.KindInteger},
			{Name: "material", Type: "varchar(255)", Kind: catalog.KindText, Collation: mergetest.NoCase}}}
	blocks := []string{"stone", "dirt", "sand", "log", "glass", "brick", "lamp", "sign", "chest", "bed"}
	world := func(label string, first int64, shift, twice int) *mergetest.Database {
		db := &mergetest.Database{Label: label, Rows: make(map[string][]mergetest.Row), Schema: catalog.Catalog{Engine: "mariadb", Tables: []catalog.Table{materials}}}
		for i := range blocks {
			db.Rows["material_map"] = append(db.Rows["material_map"], mergetest.Row{"rowid": first + int64(i), "id": int64(i + 1), "material": blocks[(i+shift)%len(blocks)]})
		}
		for i := range twice {
			db.Rows["material_map"] = append(db.Rows["material_map"], mergetest.Row{"rowid": first + 100 + int64(i), "id": int64(i + 1), "material": "cake"})
		}
		return db
	}
	shared := rules.Options{Rules: []rules.Declarations{{Shared: []string{"material_map.id"}}}}
	for name, test := range map[string]struct {
		shift, twice int
		want         string
	}{
		"the same":             {0, 0, ""},
		"each another":         {1, 0, "material_map.id is declared shared, but 10 of 10 values do not mean the same as in a: 1 is dirt here and stone there."},
		"no dictionary":        {1, 3, ""},
		"one world has a cake": {0, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, r := range mustCheck(t, shared, world("a", 1, 0, 0), world("b", 501, test.shift, test.twice)).Results {
				if r.Code == verdict.CodeTableDiffers && r.Verdict != verdict.Pass {
					got = string(r.Verdict) + ": " + r.Gaps[0].Reason
				}
			}
			if test.want == "" && got != "" || !strings.HasPrefix(strings.TrimPrefix(got, string(verdict.NotVerified)+": "), test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
