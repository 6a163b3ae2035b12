package world_test

import (
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
	"mergesafe/store/storetest/faulty"
)

// A request that fails while a world is opened and its schema is read is an error, or is made once more: no object is
// missed because of it.
func TestSchemaReadFails(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		d := e.database(t, e.world...)
		try := func(n *faulty.Nth) (*world.Schema, error) {
			w, err := world.OpenWorld(n.In(t.Context()), d)
			if err != nil {
				return nil, err
			}
			defer w.Close()
			return world.Read(n.In(t.Context()), w.On)
		}
		smooth := &faulty.Nth{N: -1}
		want, err := try(smooth)
		if err != nil {
			t.Fatal(err)
		}
		failed := 0
		for n := range faulty.Faults(smooth.Count(), servertest.Scale(smooth.Count(), 0)) {
			got, err := try(n)
			if err != nil {
				failed++
			} else if all := want.Differences(got, true); len(all) > 0 || len(got.Objects) != len(want.Objects) {
				t.Errorf("%s: %q", n, all)
			}
		}
		t.Logf("%d of %d requests failed", failed, smooth.Count())
		if failed == 0 {
			t.Error("none failed")
		}
	})
}
