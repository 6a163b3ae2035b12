package check

import (
	"testing"

	"mergesafe/merge/catalog"
)

func TestSchema(t *testing.T) {
	table := func(columns ...catalog.Column) catalog.Catalog {
		return catalog.Catalog{SchemaVersion: 3, Tables: []catalog.Table{{Name: "t", Columns: columns, Primary: []string{"id"}}}}
	}
	id, name := catalog.Column{Name: "id", Type: "INT"}, catalog.Column{Name: "name", Type: "TEXT"}
	usual := func(change map[string]int64) map[string]int64 {
		all := map[string]int64{"schema-version  ": 0, "schema-table t ": 0, "schema-column t ": 0, "schema-default t ": 0, "schema-order t ": 0, "schema-key t ": 0}
		for what, n := range change {
			all[what] = n
		}
		return all
	}
	other, later := name, table(id, name)
	other.Type = "BLOB"
	later.SchemaVersion = 4
	keyless := table(id, name)
	keyless.Tables[0].Primary = nil
	five := "5"
	standard := name
	standard.Default = &five
	for what, tt := range map[string]struct {
		b    catalog.Catalog
		want map[string]int64
	}{
		"the same":        {table(id, name), nil},
		"a newer version": {later, map[string]int64{"schema-version  ": 1}},
		"another type":    {table(id, other), map[string]int64{"schema-column t name": 1}},
		"another default": {table(id, standard), map[string]int64{"schema-default t name": 1}},
		"another order":   {table(name, id), map[string]int64{"schema-order t ": 1}},
		"one column less": {table(id), map[string]int64{"schema-column t name": 1}},
	} {
		t.Run(what, func(t *testing.T) {
			expect(t, judgeSchema(factsOf(describedAs("a", table(id, name)), describedAs("b", tt.b))), usual(tt.want))
		})
	}
	t.Run("no key", func(t *testing.T) {
		want := usual(map[string]int64{"schema-key t primary key id": 1})
		delete(want, "schema-key t ")
		expect(t, judgeSchema(factsOf(describedAs("a", table(id, name)), describedAs("b", keyless))), want)
	})
	t.Run("no table", func(t *testing.T) {
		expect(t, judgeSchema(factsOf(describedAs("a", catalog.Catalog{}), describedAs("b", catalog.Catalog{}))), map[string]int64{"schema-table  ": -1})
	})
}
