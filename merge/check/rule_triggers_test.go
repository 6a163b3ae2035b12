package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

// What would run in the target is said; what cannot be seen there is not
// passed.
func TestTriggers(t *testing.T) {
	insert := catalog.Trigger{Name: "greet", Event: "AFTER INSERT"}
	for name, test := range map[string]struct {
		plant func(target, other *mergetest.Database)
		want  map[string]string
	}{
		"none":          {func(a, b *mergetest.Database) {}, map[string]string{"": "PASS"}},
		"in the target": {func(a, b *mergetest.Database) { a.Schema.Tables[3].Triggers = []catalog.Trigger{insert} }, map[string]string{"": "PASS", "players": "NOT VERIFIED"}},
		"in the source": {func(a, b *mergetest.Database) { b.Schema.Tables[3].Triggers = []catalog.Trigger{insert} }, map[string]string{"": "PASS"}},
		"of deletion": {func(a, b *mergetest.Database) {
			a.Schema.Tables[3].Triggers = []catalog.Trigger{{Name: "bury", Event: "BEFORE DELETE"}}
		}, map[string]string{"": "PASS"}},
		"hidden in the target": {func(a, b *mergetest.Database) {
			a.Schema.Hidden = []catalog.Hidden{{What: catalog.HiddenTriggers, Why: "they take a privilege"}}
		}, map[string]string{"": "NOT VERIFIED"}},
		"hidden in the source": {func(a, b *mergetest.Database) {
			b.Schema.Hidden = []catalog.Hidden{{What: catalog.HiddenTriggers, Why: "they take a privilege"}}
		}, map[string]string{"": "PASS"}},
	} {
		a, b := settled(1), settled(2)
		test.plant(a, b)
		got := make(map[string]string)
		for _, r := range find(mustCheck(t, declare.Options{}, a, b), verdict.CodeTriggerFires, "", "") {
			got[r.Table] = string(r.Verdict)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
