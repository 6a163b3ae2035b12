package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// Rows of the worlds that the first world would refuse are counted and shown, its own among them; what
// cannot be tried is not passed.
func TestRefusedRows(t *testing.T) {
	poor := catalog.Condition{Kind: catalog.ConditionCheck, Name: "rich", Text: "gold > 15", Columns: []string{"gold"}}
	rich := func(row mergetest.Row) bool { return row["gold"].(int64) > 15 }
	all := func(mergetest.Row) bool { return true }
	changed := func(change func(*catalog.Condition)) catalog.Condition { c := poor; change(&c); return c }
	type want struct {
		verdict verdict.Verdict
		count   int64
		samples int
	}
	for name, test := range map[string]struct {
		condition catalog.Condition
		plant     func(target, other *mergetest.Database)
		want      map[string]want
	}{
		"broken":      {poor, nil, map[string]want{"refused-check|players|rich": {verdict.Fail, 2, 2}}},
		"a partition": {changed(func(c *catalog.Condition) { c.Kind, c.Name = catalog.ConditionPartition, "RANGE(gold)" }), nil, map[string]want{"refused-partition|players|RANGE(gold)": {verdict.Fail, 2, 2}}},
		"a size":      {changed(func(c *catalog.Condition) { c.Kind, c.Name = catalog.ConditionSize, "packet" }), nil, map[string]want{"refused-size|players|packet": {verdict.Fail, 2, 2}}},
		"kept":        {poor, func(a, b *mergetest.Database) { b.Holds[poor.Text] = all }, map[string]want{"refused-check|players|rich": {verdict.Pass, 0, 0}}},
		"broken in the first world": {poor, func(a, b *mergetest.Database) {
			a.Holds, b.Holds = b.Holds, a.Holds
		}, map[string]want{"refused-check|players|rich": {verdict.Fail, 2, 2}}},
		"broken in the first world, whose rows come alone": {poor, func(a, b *mergetest.Database) {
			a.Holds, b.Rows["players"] = b.Holds, nil
		}, map[string]want{"refused-check|players|rich": {verdict.Fail, 2, 2}}},
		"unclear":      {changed(func(c *catalog.Condition) { c.Unclear = "it asks the clock" }), nil, map[string]want{"refused-check|players|rich": {verdict.NotVerified, 0, 0}}},
		"not enforced": {changed(func(c *catalog.Condition) { c.Off = true }), nil, map[string]want{}},
		"not known":    {poor, func(a, b *mergetest.Database) { b.Holds = nil }, map[string]want{"refused-check|players|rich": {verdict.NotVerified, 0, 0}}},
		"no rows":      {changed(func(c *catalog.Condition) { c.Unclear = "it asks the clock" }), func(a, b *mergetest.Database) { a.Rows, b.Rows = nil, nil }, map[string]want{"refused-check|players|rich": {verdict.Pass, 0, 0}}},
		"another collation": {changed(func(c *catalog.Condition) { c.Columns = []string{"name"} }), func(a, b *mergetest.Database) {
			b.Schema.Tables[3].Columns[1].Collation = mergetest.Binary
		}, map[string]want{"refused-check|players|rich": {verdict.NotVerified, 0, 0}}},
		"no such column": {changed(func(c *catalog.Condition) { c.Columns = []string{"silver"} }), nil, map[string]want{"refused-check|players|rich": {verdict.NotVerified, 0, 0}}},
		"a type that differs": {catalog.Condition{}, func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Columns[3].Type, a.Schema.Tables[3].Conditions = "TINYINT", nil
			a.Values = map[string][]catalog.Condition{"players.gold": {{Kind: catalog.ConditionValue, Text: poor.Text, Columns: []string{"gold"}}}}
		}, map[string]want{"refused-value|players|gold": {verdict.NotVerified, 0, 0}}},
		"a type of the same kind": {catalog.Condition{}, func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Columns[3].Type, a.Schema.Tables[3].Conditions = "TINYINT", nil
			a.Schema.Tables[3].Columns[3].Kind, b.Schema.Tables[3].Columns[3].Kind = catalog.KindInteger, catalog.KindInteger
			a.Values = map[string][]catalog.Condition{"players.gold": {{Kind: catalog.ConditionValue, Text: poor.Text, Columns: []string{"gold"}}}}
		}, map[string]want{"refused-value|players|gold": {verdict.Fail, 2, 2}}},
		"an invalid value of the same type": {changed(func(c *catalog.Condition) { c.Kind, c.Within = catalog.ConditionValue, true }), nil, map[string]want{"refused-value|players|gold": {verdict.Fail, 2, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			a.Holds = map[string]func(mergetest.Row) bool{poor.Text: all}
			b.Holds = map[string]func(mergetest.Row) bool{poor.Text: rich}
			a.Schema.Tables[3].Conditions = []catalog.Condition{test.condition}
			if test.plant != nil {
				test.plant(a, b)
			}
			got := make(map[string]want)
			for _, r := range mustCheck(t, rules.Options{}, a, b).Results {
				switch r.Code {
				case verdict.CodeRefusedCheck, verdict.CodeRefusedPartition, verdict.CodeRefusedValue, verdict.CodeRefusedSize:
					got[key(r.Code, r.Table, r.Subject)] = want{r.Verdict, r.Count, len(r.Samples)}
				}
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
