package world_test

import (
	"testing"
	"time"

	"mergesafe/merge/world"
)

// A batch grows while it takes less than half of the time it should, shrinks when
// it takes more than twice that, and stays within its bounds.
func TestPace(t *testing.T) {
	p := world.NewPace(time.Second)
	for _, step := range []struct {
		rows int
		took time.Duration
		want int
	}{
		{1000, time.Second, 1000},
		{1000, 400 * time.Millisecond, 2000},
		{400, 400 * time.Millisecond, 2000}, // too few to tell
		{2000, 3 * time.Second, 1000},
	} {
		if p.Record(step.rows, step.took); p.Size() != step.want {
			t.Errorf("%d rows in %s: the next batch has %d, want %d", step.rows, step.took, p.Size(), step.want)
		}
	}
	for range 20 {
		p.Record(p.Size(), 0)
	}
	if p.Size() != world.MostRows {
		t.Errorf("it grows to %d", p.Size())
	}
	for range 20 {
		p.Record(p.Size(), time.Minute)
	}
	if p.Size() != world.FewestRows {
		t.Errorf("it shrinks to %d", p.Size())
	}
}
