package gameid_test

import (
	"slices"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

func TestClockSteps(t *testing.T) {
	for _, step := range []time.Duration{-time.Second, -time.Hour, -100 * 24 * time.Hour, time.Minute, time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				clock := gameidtest.NewClock()
				n := open(t, newRegistry(), gameid.Options{Clock: clock, MaxSkew: 3 * time.Hour})
				g := gameid.NewGenerator[player](n)
				ids := []gameid.ID{next(t, g)}
				clock.Step(step)
				for range 100 {
					time.Sleep(time.Second)
					ids = append(ids, next(t, g), next(t, g))
				}
				if !slices.IsSortedFunc(ids, gameid.ID.Compare) || len(slices.Compact(ids)) != 201 {
					t.Error("the IDs do not rise strictly")
				}
				s := n.Stats()
				// A step forward needs times that were not reserved yet: one
				// call may have to wait for the registry.
				if s.Failures != 0 || s.Waits > 1 || step < 0 && s.Waits != 0 {
					t.Errorf("a step of the clock cost %d failures and %d waits", s.Failures, s.Waits)
				}
				followed := step.Abs() <= 3*time.Hour
				if followed != (s.ClockSteps == 1) || followed != s.RefusedClock.IsZero() {
					t.Errorf("a step of %s: ClockSteps %d, RefusedClock %s", step, s.ClockSteps, s.RefusedClock)
				}
				if newest := ids[len(ids)-1].Time(); step > 0 && clock.Wall().Sub(newest) > time.Millisecond {
					t.Errorf("the clock says %s, the newest ID %s", clock.Wall(), newest)
				}
			})
		})
	}
}

// A node whose clock was set back by an hour mints a million IDs and more
// without an error, and runs ahead only by what it mints.
func TestClockSetBackMintsOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := gameidtest.NewClock()
		n := open(t, newRegistry(), gameid.Options{Clock: clock, MaxSkew: 2 * time.Hour})
		g := gameid.NewGenerator[player](n)
		next(t, g)
		clock.Step(-time.Hour)
		time.Sleep(5 * time.Second) // the next renewal sees the step
		first := next(t, g)
		ids := make([]gameid.Of[player], 1<<18)
		for range 20 {
			if err := g.Fill(ids); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		ran := ids[len(ids)-1].Time().Sub(first.Time())
		if used := 20 * time.Duration(len(ids)) / 65536 * time.Millisecond; ran < used || ran > used+10*time.Millisecond {
			t.Errorf("%s were used for what takes %s", ran, used)
		}
	})
}

// A wall clock that jumps by years is not followed, unless the registry's did
// the same: a machine that slept.
func TestWildClock(t *testing.T) {
	for _, registryToo := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			clock, registryClock, r := gameidtest.NewClock(), gameidtest.NewClock(), newRegistry()
			r.Now = registryClock.Wall
			n := open(t, r, gameid.Options{Clock: clock})
			g := gameid.NewGenerator[player](n)
			next(t, g)
			const years = 10 * 365 * 24 * time.Hour
			if registryToo {
				registryClock.Step(years)
			}
			clock.Step(years)
			time.Sleep(time.Minute)
			id := next(t, g)
			year, refused := id.Time().Year(), n.Stats().RefusedClock
			if registryToo && (year != 2036 || !refused.IsZero()) || !registryToo && (year != 2026 || refused.Year() != 2036) {
				t.Errorf("registry agrees: %t; the year of %s is %d, the refused clock %s", registryToo, id, year, refused)
			}
		})
	}
}

// Nor is one that comes to the same in steps of minutes, each of which would be
// followed.
func TestCreepingClock(t *testing.T) {
	for _, registryToo := range []bool{false, true} {
		for _, step := range []time.Duration{4 * time.Minute, -4 * time.Minute} {
			bubble(t, func(t *testing.T) {
				clock, registryClock, r := gameidtest.NewClock(), gameidtest.NewClock(), newRegistry()
				r.Now = registryClock.Wall
				n := open(t, r, gameid.Options{Clock: clock})
				g := gameid.NewGenerator[player](n)
				for range 10 {
					clock.Step(step)
					if registryToo {
						registryClock.Step(step)
					}
					time.Sleep(10 * time.Second)
					next(t, g)
				}
				s := n.Stats()
				// The first step is followed in any case.
				if steps := map[bool]uint64{false: 1, true: 10}[registryToo]; s.ClockSteps != steps || registryToo != s.RefusedClock.IsZero() {
					t.Errorf("registry agrees: %t; %d steps of %s were followed, want %d; refused: %s", registryToo, s.ClockSteps, step, steps, s.RefusedClock)
				}
				if ahead := s.Newest.Sub(registryClock.Wall()); !registryToo && ahead > 5*time.Minute {
					t.Errorf("the newest ID is %s ahead of the registry's clock", ahead)
				}
				// A clock that comes to its senses is followed again.
				clock.Step(registryClock.Wall().Sub(clock.Wall()))
				time.Sleep(10 * time.Second)
				if s := n.Stats(); !s.RefusedClock.IsZero() {
					t.Errorf("the clock is right again, and refused: %s", s.RefusedClock)
				}
			})
		}
	}
}

// A clock that was ahead for a while and is set right does not slow the node,
// whose IDs are ahead now.
func TestClockForthAndBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := gameidtest.NewClock()
		n := open(t, newRegistry(), gameid.Options{Clock: clock})
		g := gameid.NewGenerator[player](n)
		for _, step := range []time.Duration{2 * time.Minute, -2 * time.Minute} {
			clock.Step(step)
			time.Sleep(5 * time.Second) // the next renewal sees the step
			start := time.Now()
			if err := g.Fill(make([]gameid.Of[player], 1<<18)); err != nil || time.Since(start) != 0 {
				t.Errorf("after a step of %s: %v, after %s", step, err, time.Since(start))
			}
		}
		if s := n.Stats(); s.ClockSteps != 2 || s.Ahead < time.Minute {
			t.Errorf("%d steps, %s ahead", s.ClockSteps, s.Ahead)
		}
	})
}
