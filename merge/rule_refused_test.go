package merge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/mergetest"
)

// Rows of the sources that the target would refuse are counted and shown; what
// cannot be tried is not passed.
func TestRefusedRows(t *testing.T) {
	poor := merge.Condition{Kind: merge.ConditionCheck, Name: "rich", Text: "gold > 15", Columns: []string{"gold"}}
	rich := func(row mergetest.Row) bool { return row["gold"].(int64) > 15 }
	changed := func(change func(*merge.Condition)) merge.Condition { c := poor; change(&c); return c }
	type want struct {
		verdict merge.Verdict
		count   int64
		samples int
	}
	for name, test := range map[string]struct {
		condition merge.Condition
		plant     func(target, other *mergetest.Database)
		want      map[string]want
	}{
		"broken":       {poor, nil, map[string]want{"target-check|players|rich": {merge.Fail, 2, 2}}},
		"a partition":  {changed(func(c *merge.Condition) { c.Kind, c.Name = merge.ConditionPartition, "RANGE(gold)" }), nil, map[string]want{"target-partition|players|RANGE(gold)": {merge.Fail, 2, 2}}},
		"a size":       {changed(func(c *merge.Condition) { c.Kind, c.Name = merge.ConditionSize, "packet" }), nil, map[string]want{"target-size|players|packet": {merge.Fail, 2, 2}}},
		"kept":         {poor, func(a, b *mergetest.Database) { b.Holds[poor.Text] = func(mergetest.Row) bool { return true } }, map[string]want{"target-check|players|rich": {merge.Pass, 0, 0}}},
		"unclear":      {changed(func(c *merge.Condition) { c.Unclear = "it asks the clock" }), nil, map[string]want{"target-check|players|rich": {merge.NotVerified, 0, 0}}},
		"not enforced": {changed(func(c *merge.Condition) { c.Off = true }), nil, map[string]want{}},
		"not known":    {poor, func(a, b *mergetest.Database) { b.Holds = nil }, map[string]want{"target-check|players|rich": {merge.NotVerified, 0, 0}}},
		"no rows":      {changed(func(c *merge.Condition) { c.Unclear = "it asks the clock" }), func(a, b *mergetest.Database) { b.Rows = nil }, map[string]want{"target-check|players|rich": {merge.Pass, 0, 0}}},
		"another collation": {changed(func(c *merge.Condition) { c.Columns = []string{"name"} }), func(a, b *mergetest.Database) {
			b.Schema.Tables[3].Columns[1].Collation = mergetest.Binary
		}, map[string]want{"target-check|players|rich": {merge.NotVerified, 0, 0}}},
		"no such column": {changed(func(c *merge.Condition) { c.Columns = []string{"silver"} }), nil, map[string]want{"target-check|players|rich": {merge.NotVerified, 0, 0}}},
		"a type that differs": {merge.Condition{}, func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Columns[3].Type, a.Schema.Tables[3].Conditions = "TINYINT", nil
			a.Values = map[string][]merge.Condition{"players.gold": {{Kind: merge.ConditionValue, Text: poor.Text, Columns: []string{"gold"}}}}
		}, map[string]want{"target-value|players|gold": {merge.NotVerified, 0, 0}}},
		"a type of the same kind": {merge.Condition{}, func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Columns[3].Type, a.Schema.Tables[3].Conditions = "TINYINT", nil
			a.Schema.Tables[3].Columns[3].Kind, b.Schema.Tables[3].Columns[3].Kind = merge.KindInteger, merge.KindInteger
			a.Values = map[string][]merge.Condition{"players.gold": {{Kind: merge.ConditionValue, Text: poor.Text, Columns: []string{"gold"}}}}
		}, map[string]want{"target-value|players|gold": {merge.Fail, 2, 2}}},
		"an invalid value of the same type": {changed(func(c *merge.Condition) { c.Kind, c.Within = merge.ConditionValue, true }), nil, map[string]want{"target-value|players|gold": {merge.Fail, 2, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			b.Holds = map[string]func(mergetest.Row) bool{poor.Text: rich}
			a.Schema.Tables[3].Conditions = []merge.Condition{test.condition}
			if test.plant != nil {
				test.plant(a, b)
			}
			got := make(map[string]want)
			for _, r := range check(t, merge.Options{}, a, b).Results {
				switch r.Code {
				case merge.CodeTargetCheck, merge.CodeTargetPartition, merge.CodeTargetValue, merge.CodeTargetSize:
					got[key(r.Code, r.Table, r.Subject)] = want{r.Verdict, r.Count, len(r.Samples)}
				}
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// A matrix says the same.
			m, err := merge.Matrix(t.Context(), sources(a, b), merge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range m.Pairs[0].Results {
				if w, ok := got[key(r.Code, r.Table, r.Subject)]; ok && (w.verdict != r.Verdict || w.count != r.Count) {
					t.Errorf("the matrix says %s and %d", r.Verdict, r.Count)
				}
			}
		})
	}
}

// A target that accepts no writes is said; one that does is no finding.
func TestFrozen(t *testing.T) {
	a, b := settled(1), settled(2)
	b.Schema.Frozen = "it is a replica"
	if got := find(check(t, merge.Options{}, a, b), merge.CodeTargetFrozen, "", ""); len(got) != 0 {
		t.Errorf("a source that accepts no writes: %v", got)
	}
	a.Schema.Frozen = "it is a replica"
	if got := find(check(t, merge.Options{}, a, b), merge.CodeTargetFrozen, "", ""); len(got) != 1 || got[0].Verdict != merge.NotVerified {
		t.Errorf("a target that accepts no writes: %v", got)
	}
}
