package check

import (
	"testing"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Nothing is read if no key that is referred to is in two databases, provided
// that all compare it alike.
func TestAmbiguousIsReadOnlyIfNeeded(t *testing.T) {
	guilds := func(collation string) catalog.Catalog {
		return catalog.Catalog{Tables: []catalog.Table{{Name: "guilds", Columns: []catalog.Column{{Name: "id", Collation: collation}}, Primary: []string{"id"}}}}
	}
	for name, tt := range map[string]struct {
		other    string
		disjoint bool
		tasks    int
	}{
		"disjoint":           {"nocase", true, 0},
		"not disjoint":       {"nocase", false, 1},
		"compared otherwise": {"binary", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(describedAs("a", guilds("nocase")), describedAs("b", guilds(tt.other)))
			f.Disjoint[rules.IDOf("guilds", "id")] = tt.disjoint
			o := considerAmbiguous(f, guildOf, &strayReading{})
			if len(o.Tasks) != tt.tasks || len(o.Findings) != 1-tt.tasks {
				t.Errorf("%d tasks and %d findings", len(o.Tasks), len(o.Findings))
			}
		})
	}
}

func TestAmbiguous(t *testing.T) {
	a, b := describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{})
	a.Rows["players"] = 100
	read := &ambiguousReading{Worlds: []ambiguousRows{{DB: a, Rows: 4}, {DB: b, Gaps: []verdict.Gap{{World: "b", Reason: "has no table guilds"}}}}}
	r := judgeAmbiguous(guildOf, read)
	if r.Count != 4 || r.Rows != 4 || r.Read != 100 || len(r.Gaps) != 1 {
		t.Errorf("%+v", r)
	}
}
