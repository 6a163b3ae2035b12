package check

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
)

// A foreign key to a table without a key names one row only by a unique index.
func TestReferencedWithoutKey(t *testing.T) {
	to := catalog.Table{Name: "players", Columns: []catalog.Column{{Name: "name", Nullable: true}, {Name: "clan", Nullable: true}},
		Uniques: []catalog.Unique{{Name: "one", Columns: []string{"name"}}}}
	for column, want := range map[string]string{"name": "", "clan": `it has no key and "mail" refers to it, so a reference does not identify a row`} {
		mail := catalog.Table{Name: "mail", References: []catalog.Reference{{Columns: []string{"of"}, ToTable: "players", ToColumns: []string{column}}}}
		f := factsOf(describedAs("a", catalog.Catalog{Tables: []catalog.Table{to, mail}}))
		if got := strings.Join(unidentified(f, &to), "; "); (want == "") != (got == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
}
