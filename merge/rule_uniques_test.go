package merge

import (
	"strings"
	"testing"
)

func TestUnique(t *testing.T) {
	f := factsOf(described("a", Catalog{}), described("b", Catalog{}))
	u := unique{Unique: Unique{Name: "by_name", Columns: []string{"name"}}}
	parts := []part{{db: f.dbs[0], read: 10}, {db: f.dbs[1], read: 20}}

	o := judgeUnique(f, "players", u, &reading{parts: parts})
	expect(t, o.findings, map[string]int64{"unique-collision players name": 0})
	if r := o.findings[0]; r.Read != 30 || !o.disjoint[idOf("players", "name")] {
		t.Errorf("nothing is there twice: %+v, disjoint %v", r, o.disjoint)
	}

	twice := &reading{parts: parts, repeats: repeats{values: 2, rows: []int64{2, 3}, inside: 1}}
	o = judgeUnique(f, "players", u, twice)
	expect(t, o.findings, map[string]int64{"unique-collision players name": 2})
	if r := o.findings[0]; r.Rows != 5 || r.Alike || o.disjoint[idOf("players", "name")] {
		t.Errorf("two are there twice: %+v, disjoint %v", r, o.disjoint)
	}

	f.alike["players"] = true
	if r := judgeUnique(f, "players", u, twice).findings[0]; !r.Alike || !strings.Contains(r.action, "declare the table the same") {
		t.Errorf("the same in every database: %+v", r)
	}

	o = judgeUnique(f, "players", u, &reading{parts: parts[:1], gaps: []Gap{{"b", "has no column name"}}})
	expect(t, o.findings, map[string]int64{"unique-collision players name": -1})
	if o.disjoint[idOf("players", "name")] {
		t.Error("what was not read in full is taken for disjoint")
	}
}
