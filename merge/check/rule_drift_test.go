package check

import (
	"testing"

	"mergesafe/merge/catalog"
)

// What a source has and the first world has not is not verified; what only the first world
// has stays, and passes.
func TestDrift(t *testing.T) {
	schema := func(change func(*catalog.Catalog)) catalog.Catalog {
		c := catalog.Catalog{Collation: "general", Tables: []catalog.Table{{Name: "t", Columns: []catalog.Column{{Name: "id"}, {Name: "up"}}, Primary: []string{"id"}}}}
		change(&c)
		return c
	}
	plain := func(*catalog.Catalog) {}
	positive := func(c *catalog.Catalog) {
		c.Tables[0].Conditions = []catalog.Condition{{Kind: catalog.ConditionCheck, Text: "id > 0"}, {Kind: catalog.ConditionSize, Text: "size"}}
	}
	key := func(onDelete string) func(*catalog.Catalog) {
		return func(c *catalog.Catalog) {
			c.Tables[0].References = []catalog.Reference{{Columns: []string{"up"}, ToTable: "t", ToColumns: []string{"id"}, OnDelete: onDelete}}
		}
	}
	routine := func(body string) func(*catalog.Catalog) {
		return func(c *catalog.Catalog) { c.Routines = []catalog.Routine{{Kind: "EVENT", Name: "daily", Body: body}} }
	}
	const check, reference, event, charset = "schema-check t ", "schema-reference t ", "schema-routine  ", "schema-charset  "
	for name, test := range map[string]struct {
		target, other func(*catalog.Catalog)
		want          map[string]int64
	}{
		"nothing":               {plain, plain, nil},
		"a check in both":       {positive, positive, map[string]int64{check: 0}},
		"a check in the target": {positive, plain, map[string]int64{check: 0}},
		"a check in the source": {plain, positive, map[string]int64{check: -1}},
		"a check that is off": {plain, func(c *catalog.Catalog) {
			c.Tables[0].Conditions = []catalog.Condition{{Kind: catalog.ConditionCheck, Text: "id > 0", Off: true}}
		}, nil},
		"a key in the source":       {plain, key(""), map[string]int64{reference: -1}},
		"a key in the target":       {key(""), plain, map[string]int64{reference: 0}},
		"another action":            {key(""), key("CASCADE"), map[string]int64{reference: -1}},
		"the same action":           {key("CASCADE"), key("CASCADE"), map[string]int64{reference: 0}},
		"an event in the source":    {plain, routine("x"), map[string]int64{event: -1}},
		"an event in the target":    {routine("x"), plain, map[string]int64{event: 0}},
		"another event":             {routine("x"), routine("y"), map[string]int64{event: -1}},
		"another default collation": {plain, func(c *catalog.Catalog) { c.Collation = "bin" }, map[string]int64{charset: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]int64{charset: 0}
			for k, n := range test.want {
				want[k] = n
			}
			expect(t, judgeDrift(factsOf(describedAs("a", schema(test.target)), describedAs("b", schema(test.other)))), want)
		})
	}
}
