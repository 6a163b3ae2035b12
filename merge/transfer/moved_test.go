package transfer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// What is told of the rows of a world is what the new database has of them afterwards.
func TestEachMoved(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := oldGame(t, e, "s1", "s2", "s3")
		exec(t, all[2], "UPDATE chars SET name = 'nbe' WHERE guid = 2") // as in s2
		p, into := planOf(t, e, all, planner.PlanOptions{Check: oldRules(), Names: []plan.NamePolicy{{Table: "chars", Column: "name", MaxLength: 20}}})
		if len(p.Renames) != 1 {
			t.Fatalf("%+v", p.Renames)
		}
		mustApply(t, p, into, all)
		var olds, news []string
		for i, d := range all {
			olds = append(olds, keysAndNames(t, d, "SELECT guid, name FROM chars ORDER BY guid")...)
			err := apply.EachMoved(t.Context(), p, into, all, i, "chars", "name", nil, func(m apply.Moved) error {
				if len(olds) == 0 || olds[0] != m.OldKey+" "+m.Old {
					t.Errorf("got %+v, want %q", m, olds)
				}
				olds = olds[1:]
				news = append(news, m.NewKey+" "+m.New)
				return nil
			})
			if err != nil || len(olds) > 0 {
				t.Fatal(olds, err)
			}
		}
		if diff := cmp.Diff(keysAndNames(t, into, "SELECT guid, name FROM chars ORDER BY guid"), news); diff != "" {
			t.Error(diff)
		}
		for _, c := range []struct{ table, column, want string }{{"chars", "nmae", `no column "nmae"`}, {"none", "x", `no rows of a table "none" of "s1" come by the plan`}} {
			err := apply.EachMoved(t.Context(), p, into, all, 0, c.table, c.column, nil, func(apply.Moved) error { return nil })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		}
	})
}

func keysAndNames(t *testing.T, d rowio.Database, query string) (all []string) {
	t.Helper()
	db := pool(t, d)
	defer db.Close()
	for _, row := range readCell(t, db, query) {
		all = append(all, fmt.Sprint(row[0], " ", row[1]))
	}
	return all
}
