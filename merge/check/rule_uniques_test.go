package check

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

func TestUnique(t *testing.T) {
	f := factsOf(describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{}))
	u := rules.Unique{Unique: catalog.Unique{Name: "by_name", Columns: []string{"name"}}}
	parts := []part{{DB: f.DBs[0], Read: 10}, {DB: f.DBs[1], Read: 20}}

	o := judgeUnique(f, "players", u, &Reading{Parts: parts})
	expect(t, o.Findings, map[string]int64{"unique-collision players name": 0})
	if r := o.Findings[0]; r.Read != 30 || !o.Disjoint[rules.IDOf("players", "name")] {
		t.Errorf("nothing is there twice: %+v, disjoint %v", r, o.Disjoint)
	}

	twice := &Reading{Parts: parts, Repeats: stream.Repeats{Values: 2, Rows: []int64{2, 3}, Inside: 1}}
	o = judgeUnique(f, "players", u, twice)
	expect(t, o.Findings, map[string]int64{"unique-collision players name": 2})
	if r := o.Findings[0]; r.Rows != 5 || r.Alike || o.Disjoint[rules.IDOf("players", "name")] {
		t.Errorf("two are there twice: %+v, disjoint %v", r, o.Disjoint)
	}

	f.Alike["players"] = true
	if r := judgeUnique(f, "players", u, twice).Findings[0]; !r.Alike || !strings.Contains(r.Action, "declare the table the same") {
		t.Errorf("the same in every database: %+v", r)
	}

	o = judgeUnique(f, "players", u, &Reading{Parts: parts[:1], Gaps: []verdict.Gap{{World: "b", Reason: "has no column name"}}})
	expect(t, o.Findings, map[string]int64{"unique-collision players name": -1})
	if o.Disjoint[rules.IDOf("players", "name")] {
		t.Error("what was not read in full is taken for disjoint")
	}
}
