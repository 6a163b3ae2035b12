package merge

import "testing"

// Nothing is read if no key that is referred to is in two databases, provided
// that all compare it alike.
func TestAmbiguousIsReadOnlyIfNeeded(t *testing.T) {
	guilds := func(collation string) Catalog {
		return Catalog{Tables: []Table{{Name: "guilds", Columns: []Column{{Name: "id", Collation: collation}}, Primary: []string{"id"}}}}
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
			f := factsOf(described("a", guilds("nocase")), described("b", guilds(tt.other)))
			f.disjoint[idOf("guilds", "id")] = tt.disjoint
			o := considerAmbiguous(f, "players", guildOf, &strayReading{})
			if len(o.tasks) != tt.tasks || len(o.findings) != 1-tt.tasks {
				t.Errorf("%d tasks and %d findings", len(o.tasks), len(o.findings))
			}
		})
	}
}

func TestAmbiguous(t *testing.T) {
	a, b := described("a", Catalog{}), described("b", Catalog{})
	a.rows["players"] = 100
	read := &ambiguousReading{sources: []ambiguousRows{{db: a, rows: 4}, {db: b, gaps: []Gap{{"b", "has no table guilds"}}}}}
	r := judgeAmbiguous("players", guildOf, read)
	if r.Count != 4 || r.Rows != 4 || r.Read != 100 || len(r.Gaps) != 1 {
		t.Errorf("%+v", r)
	}
}
