package transfer

import (
	"testing"
	"time"
)

// A batch grows while it takes less than half of the time it should, shrinks when
// it takes more than twice that, and stays within its bounds.
func TestPace(t *testing.T) {
	p := newPace(time.Second)
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
		if p.took(step.rows, step.took); p.size() != step.want {
			t.Errorf("%d rows in %s: the next batch has %d, want %d", step.rows, step.took, p.size(), step.want)
		}
	}
	for range 20 {
		p.took(p.size(), 0)
	}
	if p.size() != mostRows {
		t.Errorf("it grows to %d", p.size())
	}
	for range 20 {
		p.took(p.size(), time.Minute)
	}
	if p.size() != fewestRows {
		t.Errorf("it shrinks to %d", p.size())
	}
}
