package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/declare"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

func TestCompare(t *testing.T) {
	if changes := check.Compare(mustCheck(t, declare.Options{}, faulty()...), mustCheck(t, declare.Options{Samples: 7}, faulty()...)); changes != nil {
		t.Errorf("the same databases: %v", changes)
	}
	old := mustCheck(t, declare.Options{}, settled(1), settled(2))
	for name, test := range map[string]struct {
		plant func(b *mergetest.Database)
		want  []check.Change
	}{
		"a row more": {
			func(b *mergetest.Database) {
				b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(2, 150), "count": int64(1)})
			},
			[]check.Change{{World: "s2", Table: "items", What: "rows", Old: "10", New: "11"}, {World: "s2", Table: "", What: "IDs of server 2", Old: "20", New: "21"}},
		},
		"a row for another": {
			func(b *mergetest.Database) { b.Rows["items"][9]["id"] = id(2, 250) },
			[]check.Change{{World: "s2", Table: "items", What: "last key", Old: id(2, 204).String(), New: id(2, 250).String()}},
		},
		"a mark": {
			func(b *mergetest.Database) { b.Registry[0].Reserved += 1000 },
			[]check.Change{{World: "s2", Table: "", What: "mark of server 2", Old: "2026-03-01T12:00:00.000Z", New: "2026-03-01T12:00:01.000Z"}},
		},
		"a name": {
			func(b *mergetest.Database) { b.Rows["players"][0]["name"] = "PLAYER1.0" },
			[]check.Change{{World: "", Table: "players", What: "unique-collision name", Old: "PASS", New: "FAIL, 1"}},
		},
		"a table that is gone": {
			func(b *mergetest.Database) {
				b.Schema.Tables = b.Schema.Tables[:3]
				b.Rows["members"], b.Rows["guilds"] = nil, nil
			},
			nil,
		},
		"a server": {
			func(b *mergetest.Database) {
				b.Registry = append(b.Registry, catalog.Server{Server: 5, World: "w5", Reserved: nowMillis()})
			},
			[]check.Change{{World: "s2", Table: "", What: "IDs of server 5", Old: "", New: "0"}, {World: "s2", Table: "", What: "world of server 5", Old: "", New: "w5"}, {World: "s2", Table: "", What: "mark of server 5", Old: "", New: "2026-03-01T12:00:00.000Z"}},
		},
		"a source": {func(b *mergetest.Database) { b.Label = "s9" }, nil},
	} {
		b := settled(2)
		test.plant(b)
		got := check.Compare(old, mustCheck(t, declare.Options{}, settled(1), b))
		if test.want == nil && len(got) > 1 {
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// What was not looked at did not stay the same.
	part := mustCheck(t, declare.Options{Only: []declare.Selection{{Code: verdict.CodeServerConflict}}}, settled(1), settled(2))
	if len(check.Compare(old, part)) == 0 || len(check.Compare(part, old)) == 0 {
		t.Error("a report about less is taken for the same")
	}
}
