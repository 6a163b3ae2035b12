//go:build !race

package gameid_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"mergesafe/gameid"
)

// At the cap of the layout a node runs ahead of the clock by no more than its window, and
// gets on as fast as the layout allows, however long the registry takes.
func TestCap(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const window = 100 * time.Millisecond
				r := newRegistry()
				r.delay = delay
				n := open(t, r, gameid.Options{Window: window})
				g := gameid.NewGenerator[player](n)
				ids := make([]gameid.Of[player], 10*65536)
				var last gameid.Of[player]
				start := time.Now()
				const rounds = 4
				for range rounds {
					if err := g.Fill(ids); err != nil {
						t.Fatal(err)
					}
					if ids[0].Compare(last) <= 0 || !slices.IsSortedFunc(ids, gameid.Of[player].Compare) {
						t.Fatal("the IDs do not rise")
					}
					last = ids[len(ids)-1]
					if ahead := time.Until(last.Time()); ahead > window {
						t.Fatalf("%s ahead of the clock", ahead)
					}
				}
				// A node begins at the end of its window: the first 16 ms were reserved before.
				took, least := time.Since(start), rounds*10*time.Millisecond-16*time.Millisecond-delay
				if took < least || took > least+16*time.Millisecond+2*delay {
					t.Errorf("%d IDs took %s, want %s", rounds*len(ids), took, least)
				}
				if s := n.Stats(); s.Waits == 0 || s.Ahead > window {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// A node mints to the end of the layout, never beyond, and then says that this
// is why it ends.
func TestEndOfLayout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const left = 15 * time.Second // a node begins 10 s ahead
		r, clock := newRegistry(), lateClock{gameid.SystemClock(), gameid.Last().Add(-left)}
		r.Now = clock.Wall
		n := open(t, r, gameid.Options{Clock: clock})
		g := gameid.NewGenerator[player](n)
		start := time.Now()
		var ids []gameid.ID
		for {
			id, err := g.Next()
			if err != nil {
				if _, ok := errors.AsType[*gameid.TimeError](err); !ok {
					t.Error(err)
				}
				break
			}
			ids = append(ids, id.ID())
			time.Sleep(100 * time.Millisecond)
		}
		last := ids[len(ids)-1]
		if took := time.Since(start); took < left || last.Time().After(gameid.Last()) || !slices.IsSortedFunc(ids, gameid.ID.Compare) {
			t.Errorf("it mints for %s of %s, the last ID is %s of %s", took, left, last, last.Time())
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range r.claims {
			if c.Reserved > gameid.MaxMillis {
				t.Errorf("it reserves up to %d, beyond the end", c.Reserved)
			}
		}
	})
}

// lateClock begins at a time that virtual time does not reach.
type lateClock struct {
	gameid.Clock
	from time.Time
}

func (c lateClock) Wall() time.Time { return c.from.Add(c.Elapsed()) }
