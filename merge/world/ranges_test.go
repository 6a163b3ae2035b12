package world_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The ranges of a table are all its rows, each begins where the one before ends, and
// they become larger rather than many.
func TestRanges(t *testing.T) {
	l := &world.Layout{Columns: []string{"id"}, Key: []int{0}}
	for _, test := range []struct {
		rows int64
		want []int64
	}{
		{0, nil},
		{10, nil},
		{11, []int64{10, 1}},
		{30, []int64{10, 10, 10}},
		{319, append(slices.Repeat([]int64{10}, 31), 9)},
		{321, append(slices.Repeat([]int64{20}, 16), 1)},
		{1300, append(slices.Repeat([]int64{80}, 16), 20)},
	} {
		r := &world.Ranger{Size: 10}
		all := world.Content{Rows: test.rows}
		for id := range test.rows {
			sum := world.Sum{Lo: 1 << (id % 50)}
			all.Sum = all.Sum.Add(sum)
			if err := r.Add(l, []any{id}, sum); err != nil {
				t.Fatal(err)
			}
		}
		all.Ranges = r.Ranges()
		if err := all.ValidateRanges([]string{"id"}); err != nil {
			t.Errorf("%d rows: %v", test.rows, err)
		}
		var got []int64
		last := int64(-1)
		for i, r := range all.Ranges {
			got = append(got, r.Rows)
			want := fmt.Sprintf(`["i%d"]`, last+r.Rows)
			if i == len(all.Ranges)-1 {
				want = ""
			}
			if r.Last != want {
				t.Errorf("%d rows: range %d ends at %s, want %s", test.rows, i, r.Last, want)
			}
			last += r.Rows
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%d rows: -want +got\n%s", test.rows, diff)
		}
		if len(all.Ranges) > 0 {
			all.Ranges[0].Rows++
			if err := all.ValidateRanges([]string{"id"}); err == nil {
				t.Error("ranges with too many rows are taken for right")
			}
		}
	}
}

// Without its ranges, a plan copies the same rows.
func TestRangesCopyTheSame(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ManyWorlds(t, e)
		at := worldtest.Clones(t, e, all)
		var rows []string
		for i, size := range []int64{50, 10_000} {
			options := worldtest.ManyOptions
			options.RangeRows = size
			worlds := [][]world.Database{all, at}[i]
			p, into := worldtest.PlanOf(t, e, worlds, options)
			if n := len(p.Tables[0].Worlds[1].Parts()); (n > 1) != (i == 0) {
				t.Errorf("%d ranges of %d rows", n, size)
			}
			worldtest.MustApply(t, p, into, worlds)
			status, err := build.LookUp(t.Context(), p, into, worlds)
			if err != nil || status.Copied() != 2410 {
				t.Errorf("%+v, %v", status, err)
			}
			rows = append(rows, worldtest.Dump(t, into, record.RecordTable, record.ProgressTable))
		}
		if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
			t.Error(diff)
		}
	})
}
