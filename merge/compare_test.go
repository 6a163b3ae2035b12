package merge_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/mergetest"
)

func TestCompare(t *testing.T) {
	if changes := merge.Compare(check(t, merge.Options{}, faulty()...), check(t, merge.Options{Samples: 7}, faulty()...)); changes != nil {
		t.Errorf("the same databases: %v", changes)
	}
	old := check(t, merge.Options{}, settled(1), settled(2))
	for name, test := range map[string]struct {
		plant func(b *mergetest.Database)
		want  []merge.Change
	}{
		"a row more": {
			func(b *mergetest.Database) {
				b.Rows["items"] = append(b.Rows["items"], mergetest.Row{"id": id(2, 150), "count": int64(1)})
			},
			[]merge.Change{{"s2", "items", "rows", "10", "11"}, {"s2", "", "IDs of server 2", "20", "21"}},
		},
		"a row for another": {
			func(b *mergetest.Database) { b.Rows["items"][9]["id"] = id(2, 250) },
			[]merge.Change{{"s2", "items", "last key", id(2, 204).String(), id(2, 250).String()}},
		},
		"a mark": {
			func(b *mergetest.Database) { b.Registry[0].Reserved += 1000 },
			[]merge.Change{{"s2", "", "mark of server 2", "2026-03-01T12:00:00.000Z", "2026-03-01T12:00:01.000Z"}},
		},
		"a name": {
			func(b *mergetest.Database) { b.Rows["players"][0]["name"] = "PLAYER1.0" },
			[]merge.Change{{"", "players", "unique-collision name", "PASS", "FAIL, 1"}},
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
				b.Registry = append(b.Registry, merge.Server{Server: 5, World: "w5", Reserved: nowMillis()})
			},
			[]merge.Change{{"s2", "", "IDs of server 5", "", "0"}, {"s2", "", "world of server 5", "", "w5"}, {"s2", "", "mark of server 5", "", "2026-03-01T12:00:00.000Z"}},
		},
		"a source": {func(b *mergetest.Database) { b.Label = "s9" }, nil},
	} {
		b := settled(2)
		test.plant(b)
		got := merge.Compare(old, check(t, merge.Options{}, settled(1), b))
		if test.want == nil && len(got) > 1 {
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}

	// What was not looked at did not stay the same.
	part := check(t, merge.Options{Only: []merge.Selection{{Code: merge.CodeServerConflict}}}, settled(1), settled(2))
	if len(merge.Compare(old, part)) == 0 || len(merge.Compare(part, old)) == 0 {
		t.Error("a report about less is taken for the same")
	}
}
