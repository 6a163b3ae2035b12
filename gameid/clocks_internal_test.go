package gameid

import (
	"testing"
	"time"
)

// paused is a clock whose process stands still around its first readings of the
// wall clock.
type paused struct {
	now           time.Duration
	before, after []time.Duration
}

func (p *paused) Elapsed() time.Duration { return p.now }

func (p *paused) Wall() time.Time {
	p.pause(&p.before)
	wall := Epoch().Add(p.now)
	p.pause(&p.after)
	return wall
}

func (p *paused) pause(all *[]time.Duration) {
	if len(*all) > 0 {
		p.now += (*all)[0]
		*all = (*all)[1:]
	}
}

// A pause between the readings of the two clocks is no step of either.
func TestBothClocks(t *testing.T) {
	long := []time.Duration{3 * time.Second}
	often := []time.Duration{time.Second, time.Second, 2 * time.Millisecond, time.Second}
	for name, c := range map[string]struct {
		clock paused
		most  time.Duration
	}{
		"none":              {},
		"before the wall":   {clock: paused{before: long}},
		"after the wall":    {clock: paused{after: long}},
		"both":              {clock: paused{before: long, after: long}},
		"at every reading":  {paused{after: often}, time.Second},
		"before every wall": {clock: paused{before: often}},
	} {
		t.Run(name, func(t *testing.T) {
			m := bothClocks(&c.clock)
			if behind := m.elapsed - m.wall.Sub(Epoch()); behind < 0 || behind > c.most {
				t.Errorf("the wall clock is %s behind the elapsed time, want 0 to %s", behind, c.most)
			}
		})
	}
}
