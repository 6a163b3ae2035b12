package build_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What is told of the rows of the worlds that come is what the new database has of them afterwards.
func TestEachFateOf(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "s1", "s2", "s3")
	worldtest.Exec(t, all[2], "UPDATE chars SET name = 'nbe' WHERE guid = 2") // as in s2
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Check: worldtest.OldRules(), Names: []plan.NamePolicy{{Table: "chars", Column: "name", MaxLength: 20}}})
	if len(p.Renames) != 1 {
		t.Fatalf("%+v", p.Renames)
	}
	worldtest.MustApply(t, p, into, all)
	const rows = "SELECT guid, name FROM chars ORDER BY guid"
	var olds, wantOlds []string
	for _, d := range all[1:] {
		wantOlds = append(wantOlds, keysAndNames(t, d, rows)...)
	}
	news := keysAndNames(t, all[0], rows) // as they were
	err := build.EachFateOf(t.Context(), p, all, "chars", "name", nil, func(f build.Fate) error {
		olds, news = append(olds, f.OldKey+" "+f.OldName), append(news, f.NewKey+" "+f.NewName)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantOlds, olds); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(keysAndNames(t, into, rows), news); diff != "" {
		t.Error(diff)
	}
	// rows that are not those of the plan, or of another world, are no answer
	other := worldtest.OldGame(t, e, "s4")[0]
	other.Name = "s2"
	worldtest.Exec(t, all[2], "UPDATE chars SET name = 'other' WHERE guid = 1")
	for world, worlds := range map[string][]world.Database{"s3": all, "s2": {all[0], other, all[2]}} {
		err := build.EachFateOf(t.Context(), p, worlds, "chars", "name", nil, func(build.Fate) error { return nil })
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("table %q of %q: they are no longer those of the plan", "chars", world)) {
			t.Errorf("%s: %v", world, err)
		}
	}
	for _, c := range []struct{ table, column, want string }{{"chars", "nmae", `no column "nmae"`}, {"none", "x", `the plan copies no rows of a table "none"`}} {
		err := build.EachFateOf(t.Context(), p, all, c.table, c.column, nil, func(build.Fate) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A row of a table without a key is told without one, and a key with a name in it is not said to stay.
func TestEachFateOfKeys(t *testing.T) {
	rename := func(table string) plan.Rename {
		return plan.Rename{Source: "s1", Table: table, Column: "name", Key: `["sbob"]`, Old: "bob", New: "bob.s1"}
	}
	p := &plan.Plan{Worlds: []plan.World{{Name: "s1"}, {Name: "s2"}}, Renames: []plan.Rename{rename("log"), rename("car"), rename("pet")},
		Tables: []plan.Table{{Name: "log"}, {Name: "car", Key: []string{"name"}}, {Name: "pet", Key: []string{"id"}}}}
	var got []string
	err := build.EachFate(p, func(f build.Fate) error { got = append(got, f.Table+" "+f.OldKey+" "+f.NewKey); return nil })
	if want := []string{"log  ", "car bob ", "pet bob bob"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func keysAndNames(t *testing.T, d world.Database, query string) (all []string) {
	t.Helper()
	db := worldtest.Pool(t, d)
	defer db.Close()
	for _, row := range worldtest.ReadCell(t, db, query) {
		all = append(all, fmt.Sprint(row[0], " ", row[1]))
	}
	return all
}
