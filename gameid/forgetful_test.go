//go:build !race

package gameid_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/internal/servertest"
)

// What becomes of the IDs if the registry forgets: a backup was restored, a
// replica that lagged was promoted, a write was confirmed and not kept.

// issued is a range of IDs of one node, first and last included.
type issued struct{ first, last gameid.ID }

// burn mints all that the node may issue without a wait, but for the last millisecond. If the clock was set back, that
// has no end as long as the registry answers: then it mints 20 million IDs.
func burn(t *testing.T, n *gameid.Node) issued {
	t.Helper()
	g := gameid.NewGenerator[player](n)
	first := next(t, g)
	last, ids := first, make([]gameid.Of[player], 1<<12)
	for i := 0; n.Stats().Left > 0 && i < 5_000; i++ {
		if err := g.Fill(ids); err != nil {
			t.Fatal(err)
		}
		last = ids[len(ids)-1].ID()
	}
	return issued{first, last}
}

// apart demands that each range lies above the one before it.
func apart(t *testing.T, ranges ...issued) {
	t.Helper()
	for i, r := range ranges {
		if i > 0 && r.first.Compare(ranges[i-1].last) <= 0 {
			t.Fatalf("the %d. node issues %s to %s, the one before issued %s to %s", i+1, r.first, r.last, ranges[i-1].first, ranges[i-1].last)
		}
	}
}

// bounded is the registry as one node sees it. It demands that no reservation
// ends beyond the later of the two clocks and the window.
type bounded struct {
	*registry
	t      *testing.T
	clock  gameid.Clock
	window time.Duration
}

func (b bounded) CompareAndSet(ctx context.Context, s gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	now := b.clock.Wall()
	if rec, err := b.Memory.Load(ctx, s); err == nil && rec.Now.After(now) {
		now = rec.Now
	}
	if ahead := gameid.TimeOf(c.Reserved).Sub(now); ahead > b.window {
		b.t.Errorf("it reserves up to %s ahead of the clock, want at most %s", ahead, b.window)
	}
	if c.Window != b.window {
		b.t.Errorf("the claim tells a window of %s, want %s", c.Window, b.window)
	}
	return b.registry.CompareAndSet(ctx, s, row, c)
}

func (r *registry) bounded(t *testing.T, clock gameid.Clock, window time.Duration) gameid.Reserver {
	return bounded{r, t, clock, window}
}

// forgets puts the registry back to an older row, as that of a process that
// has ended.
func (r *registry) forgets(old gameid.Record) {
	old.LeaseUntil = time.Time{}
	r.Set(server, old)
}

// A registry may forget several ends in a row, and whatever its row then says,
// no ID is issued twice.
func TestForgottenEnds(t *testing.T) {
	const window = 200 * time.Millisecond
	for name, old := range map[string]func(t *testing.T, r *registry) gameid.Record{
		"the row is lost": func(*testing.T, *registry) gameid.Record { return gameid.Record{} },
		"closed cleanly": func(t *testing.T, r *registry) gameid.Record {
			n := open(t, r, gameid.Options{Window: window})
			next(t, gameid.NewGenerator[player](n))
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			return r.row(t)
		},
		"crashed": func(t *testing.T, r *registry) gameid.Record {
			n := open(t, r, gameid.Options{Window: window})
			next(t, gameid.NewGenerator[player](n))
			crash(t, r, n)
			return r.row(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRegistry()
				row := old(t, r)
				clock := gameid.SystemClock()
				var all []issued
				for i := range 6 {
					r.forgets(row)
					n := open(t, r.bounded(t, clock, window), gameid.Options{Window: window})
					all = append(all, burn(t, n))
					if s := n.Stats(); s.Ahead > window {
						t.Errorf("%s ahead of the clock", s.Ahead)
					}
					if i%2 == 0 { // a longer life, in which the clock catches up
						time.Sleep(3 * window)
						all = append(all, burn(t, n))
					}
					crash(t, r, n)
				}
				apart(t, all...)
			})
		})
	}
}

// A process that is cut off from its registry mints on, to the end of what it
// has reserved. Another one opens on a copy that knows nothing of that, or of
// the process at all.
func TestFailoverToAnOlderCopy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 3 * time.Second
		opts, clock := gameid.Options{Window: window}, gameid.SystemClock()
		primary, copied := newRegistry(), newRegistry()
		before := open(t, primary, opts)
		next(t, gameid.NewGenerator[player](before))
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		copied.Set(server, primary.row(t))
		old := open(t, primary.bounded(t, clock, window), opts)
		g := gameid.NewGenerator[player](old)
		time.Sleep(time.Minute)
		lived := burn(t, old)
		primary.spoil(errors.New("the primary is gone"), nil)
		second := open(t, copied.bounded(t, clock, window), opts)
		first := next(t, gameid.NewGenerator[player](second))
		for err := error(nil); err == nil; {
			var id gameid.Of[player]
			if id, err = g.Next(); err == nil {
				lived.last = id.ID()
			}
			time.Sleep(time.Millisecond)
		}
		if _, ok := errors.AsType[*gameid.ExhaustedError](func() error { _, err := g.Next(); return err }()); !ok {
			t.Error("the process that was cut off mints on")
		}
		if now := time.Now(); lived.last.Time().Before(now.Add(-window)) {
			t.Errorf("the process that was cut off minted up to %s only, now it is %s", lived.last.Time(), now)
		}
		all := burn(t, second)
		apart(t, lived, issued{first, all.last})
	})
}

// The window of the predecessor counts if it was the larger one: it is kept in
// the row. The limits grow with it.
func TestPredecessorWithALargerWindow(t *testing.T) {
	const large, small = time.Minute, time.Second
	for _, forgets := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			r, clock := newRegistry(), gameid.SystemClock()
			var rows []gameid.Record
			var all []issued
			for i, window := range []time.Duration{large, large, small, small} {
				if forgets && i > 1 {
					r.forgets(rows[0]) // which has the window, and no more
				}
				n := open(t, r.bounded(t, clock, large), gameid.Options{Window: window, MaxSkew: 2 * window})
				if rows = append(rows, r.row(t)); rows[i].Window != large {
					t.Errorf("the row tells a window of %s, want %s", rows[i].Window, large)
				}
				all = append(all, burn(t, n))
				if i == 2 {
					if err := n.Close(); err != nil || r.row(t).Window != large {
						t.Errorf("%v; after Close the row tells a window of %s", err, r.row(t).Window)
					}
				} else {
					crash(t, r, n)
				}
			}
			apart(t, all...)
		})
	}
}

// No node has a window above the maximum, so what a row says beyond it does not stay.
func TestWindowOfTheRowIsLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		r.Set(server, gameid.Record{Epoch: 3, Window: time.Hour})
		n := open(t, r.bounded(t, gameid.SystemClock(), time.Minute), gameid.Options{})
		if ahead := time.Until(next(t, gameid.NewGenerator[player](n)).Time()); ahead > time.Minute {
			t.Errorf("the first ID is %s ahead of the clock", ahead)
		}
	})
}

// However fast a process crashes again and again, whether or not the registry
// remembers: its successors begin no further ahead than by the window.
func TestCrashesAtFullSpeed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = time.Second
		r, clock := newRegistry(), gameid.SystemClock()
		old := gameid.Record{}
		var all []issued
		for i := range servertest.Scale(25, 400) {
			n := open(t, r.bounded(t, clock, window), gameid.Options{Window: window})
			all = append(all, burn(t, n))
			if s := n.Stats(); s.Ahead > window || time.Until(s.Mark) > window {
				t.Fatalf("after %d crashes: %s ahead, the mark %s", i, s.Ahead, time.Until(s.Mark))
			}
			crash(t, r, n)
			if i%2 == 0 {
				r.forgets(old)
			} else {
				old = r.row(t)
			}
		}
		apart(t, all...)
	})
}

// A clock that is adjusted a little, again and again, or a second machine whose
// clock is a little behind, is no clock that was set back: the node waits for
// it, and begins no further and further ahead.
func TestSmallAdjustmentsDoNotCreep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window, step = time.Second, 32 * time.Millisecond // and half of it meanwhile: 48 ms
		r, clock := newRegistry(), gameidtest.NewClock()
		r.Now = clock.Wall
		opts := gameid.Options{Window: window, Clock: clock}
		var all []issued
		for i := range 30 {
			start := time.Now()
			n := open(t, r, opts)
			if took := time.Since(start); took > 64*time.Millisecond {
				t.Fatalf("OpenNode took %s", took)
			}
			if i%3 == 0 {
				all = append(all, burn(t, n))
				clock.Step(-step / 2) // while it runs
				time.Sleep(100 * time.Millisecond)
			}
			all = append(all, burn(t, n))
			if mark := n.Stats().Mark.Sub(clock.Wall()); mark > window+step*3/2 {
				t.Fatalf("after %d steps the mark is %s ahead, want at most %s", i, mark, window+step*3/2)
			}
			crash(t, r, n)
			clock.Step(-step)
		}
		apart(t, all...)
	})
}

// A clock that is minutes back after a restart costs no time: reservations go
// on above the mark in small steps.
func TestClockBackAcrossRestart(t *testing.T) {
	const window, step, steps = time.Second, 64 * time.Millisecond, 2
	for _, ending := range []string{"crash", "close"} {
		t.Run(ending, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, clock := newRegistry(), gameidtest.NewClock()
				r.Now = clock.Wall
				opts := gameid.Options{Window: window, Clock: clock}
				n := open(t, r, opts)
				time.Sleep(time.Minute)
				all := []issued{burn(t, n)}
				if ending == "crash" {
					crash(t, r, n)
				} else if err := n.Close(); err != nil {
					t.Fatal(err)
				}
				mark := gameid.TimeOf(r.row(t).Reserved)
				clock.Step(-4 * time.Minute)

				start := time.Now()
				n = open(t, r, opts)
				if took := time.Since(start); took != 0 {
					t.Errorf("OpenNode took %s", took)
				}
				if got := n.Stats().Mark; !got.Equal(mark.Add(step)) {
					t.Errorf("it begins after %s and reserves up to %s, want %s", mark, got, mark.Add(step))
				}
				// Steps, and no wait for the clock.
				g := gameid.NewGenerator[player](n)
				first := next(t, g)
				claims := len(r.claims)
				for range steps * 64 {
					if err := g.Fill(make([]gameid.Of[player], 1<<16)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Millisecond) // as fast as the layout allows
				}
				if took := time.Since(start); took > steps*step {
					t.Errorf("%d steps of IDs took %s", steps, took)
				}
				if got := len(r.claims) - claims; got > 2*steps+5 {
					t.Errorf("%d steps took %d reservations", steps, got)
				}
				s := n.Stats()
				if ahead := s.Mark.Sub(s.Newest); ahead > 2*step || s.Newest.Sub(first.Time()) > steps*step {
					t.Errorf("it used up the times from %s to %s, and reserved up to %s", first.Time(), s.Newest, s.Mark)
				}
				apart(t, append(all, issued{first, burn(t, n).last})...)
				// While it does not mint, it reserves nothing.
				before := n.Stats()
				time.Sleep(10 * time.Second)
				if s := n.Stats(); s.Mark.Sub(before.Mark) > step || s.Renewals > before.Renewals+31 {
					t.Errorf("idle, it reserved %s in %d steps", s.Mark.Sub(before.Mark), s.Renewals-before.Renewals)
				}
			})
		})
	}
}

// The limit of both defences: a duplicate takes a registry that forgot and a
// clock that was set back by more than the window. Only a predecessor that ended
// in its first window used times that far ahead.
func TestForgottenAndClockBack(t *testing.T) {
	const window = time.Second
	for _, c := range []struct {
		forgot bool
		back   time.Duration
		young  bool // the predecessor ended at once
		twice  bool
	}{
		{forgot: true, back: 0},
		{forgot: true, back: window - 100*time.Millisecond},
		{forgot: true, back: window + 100*time.Millisecond, twice: true},
		{forgot: true, back: 4 * window, twice: true},
		{forgot: true, young: true, back: 15 * time.Millisecond},
		{forgot: true, young: true, back: 25 * time.Millisecond, twice: true},
		{forgot: false, young: true, back: 25 * time.Millisecond},
		{forgot: false, back: window + 100*time.Millisecond},
		{forgot: false, back: 4 * window},
	} {
		t.Run(fmt.Sprintf("forgot=%t,back=%s,young=%t", c.forgot, c.back, c.young), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, clock := newRegistry(), gameidtest.NewClock()
				r.Now = clock.Wall
				opts := gameid.Options{Window: window, Clock: clock}
				old, n := r.row(t), open(t, r, opts)
				g := gameid.NewGenerator[player](n)
				var made []gameid.ID
				for range 4_000 {
					made = append(made, next(t, g))
					if c.young {
						break
					}
					time.Sleep(time.Millisecond)
				}
				crash(t, r, n)
				if c.forgot {
					r.forgets(old)
				}
				clock.Step(-c.back)
				again := burn(t, open(t, r, opts))
				twice := slices.ContainsFunc(made, func(id gameid.ID) bool {
					return id.Compare(again.first) >= 0 && id.Compare(again.last) <= 0
				})
				if twice != c.twice {
					t.Errorf("up to %s, then %s to %s: twice is %t, want %t", made[len(made)-1], again.first, again.last, twice, c.twice)
				}
			})
		})
	}
}

// At full speed a node mints as much as the layout allows from its start on,
// where there is little room, and asks the registry only now and then.
func TestFullSpeedFromTheStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window, lasts = time.Second, 500 * time.Millisecond
		r := newRegistry()
		n := open(t, r.bounded(t, gameid.SystemClock(), window), gameid.Options{Window: window})
		g := gameid.NewGenerator[player](n)
		start, ids := time.Now(), make([]gameid.Of[player], 1<<16)
		for range lasts.Milliseconds() {
			if err := g.Fill(ids); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > lasts {
			t.Errorf("IDs of %s took %s", lasts, took)
		}
		if s := n.Stats(); s.Renewals > uint64(lasts.Milliseconds()/16)+3 {
			t.Errorf("it took %d reservations", s.Renewals)
		}
	})
}

// The registry's clock is read at the start only. However long ago that was,
// and however fast the node measures time, it does not reserve beyond the
// window.
func TestTimeMeasuredFast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 9 * time.Second
		clock := fastClock{gameid.SystemClock()}
		n := open(t, newRegistry().bounded(t, clock, window), gameid.Options{Window: window, Clock: clock})
		time.Sleep(24 * time.Hour) // 43 s by which it is wrong
		if s := n.Stats(); s.Failures != 0 || s.Left < window/2 {
			t.Errorf("%+v", s)
		}
	})
}

// If the clocks are set right while a node runs, its reservations follow.
func TestClocksSetRight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window, wrong = 9 * time.Second, 4 * time.Minute
		r, clock := newRegistry(), gameidtest.NewClock()
		r.Now = clock.Wall
		clock.Step(wrong)
		n := open(t, r, gameid.Options{Window: window, Clock: clock})
		g := gameid.NewGenerator[player](n)
		next(t, g)
		clock.Step(-wrong)
		for range 60 {
			time.Sleep(wrong / 40)
			next(t, g)
		}
		if s := n.Stats(); time.Until(s.Mark) > window || s.Ahead != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// fastClock measures time 0.05 % too fast, and is set right all the time.
type fastClock struct{ gameid.Clock }

func (c fastClock) Elapsed() time.Duration { e := c.Clock.Elapsed(); return e + e/2000 }

// A node whose clock was set back while it had much left sends no claim, and looks
// at no clock, until that is used up.
func TestClockSetBackDoesNotSpin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 300 * time.Millisecond
		clock := &countingClock{Clock: gameidtest.NewClock()}
		r := newRegistry()
		r.Now = clock.Wall
		n := open(t, r, gameid.Options{Window: window, Clock: clock})
		g := gameid.NewGenerator[player](n)
		time.Sleep(time.Minute)
		next(t, g)
		clock.Step(-4 * time.Minute)
		time.Sleep(window) // the next renewal sees the step
		left := n.Stats().Left
		if left < window/2 || left > window {
			t.Fatalf("%s are left", left)
		}
		for range 2 * left.Milliseconds() / 3 { // more than half
			if err := g.Fill(make([]gameid.Of[player], 1<<16)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		before, reads := n.Stats(), clock.reads.Load()
		const idle = 10 * time.Second
		time.Sleep(idle)
		s := n.Stats()
		reads = clock.reads.Load() - reads
		if most := uint64(idle/(window/3)) + 1; s.Renewals-before.Renewals > most || s.Mark != before.Mark {
			t.Errorf("idle, it reserved %s in %d steps, want at most %d", s.Mark.Sub(before.Mark), s.Renewals-before.Renewals, most)
		}
		if most := int64(20 * idle / (window / 3)); reads > most {
			t.Errorf("idle, it read the clock %d times, want at most %d", reads, most)
		}
	})
}

// countingClock counts how often the time is read.
type countingClock struct {
	*gameidtest.Clock
	reads atomic.Int64
}

func (c *countingClock) Elapsed() time.Duration {
	c.reads.Add(1)
	return c.Clock.Elapsed()
}

// A process is cut off from the registry for longer than its lease, and another one takes over. Then a replica that lacks
// that is promoted, and both processes reach it. All clocks are right, and one registry at a time takes claims.
func TestFailoverAfterTakeover(t *testing.T) {
	for _, lag := range []time.Duration{12 * time.Second, time.Second, 100 * time.Millisecond} {
		for _, burst := range []int{1, servertest.Scale(10, 200)} { // IDs in 5 ms
			t.Run(fmt.Sprint(lag, " ", burst), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					primary := newRegistry()
					a, b := &switched{to: primary}, &switched{to: primary}
					first := open(t, a, gameid.Options{})
					next(t, gameid.NewGenerator[player](first))
					a.reaches(nil)
					replica := newRegistry()
					replica.Set(server, primary.row(t))
					time.Sleep(16 * time.Second)
					second := open(t, b, gameid.Options{})
					seen := make(map[gameid.Of[player]]bool)
					mint := func(n *gameid.Node) {
						for range burst {
							id, err := gameid.NewGenerator[player](n).Next()
							if err != nil {
								return
							}
							if seen[id] {
								t.Fatalf("%s came twice", id)
							}
							seen[id] = true
						}
					}
					for began := time.Now(); time.Since(began) < lag; time.Sleep(5 * time.Millisecond) {
						mint(second)
					}
					a.reaches(replica)
					b.reaches(replica)
					before := len(seen)
					for range 4000 {
						mint(second)
						mint(first)
						time.Sleep(5 * time.Millisecond)
					}
					if first.Err() != nil || second.Err() == nil || len(seen) < before+3000 {
						t.Errorf("%v, %v, %d IDs and then %d: want the first process to continue", first.Err(), second.Err(), before, len(seen))
					}
				})
			})
		}
	}
}

// switched is the connection of a process to one registry or another, or to none.
type switched struct {
	mu sync.Mutex
	to *registry
}

func (s *switched) reaches(r *registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = r
}

func (s *switched) now() (*registry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to == nil {
		return nil, errors.New("cut off")
	}
	return s.to, nil
}

func (s *switched) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	r, err := s.now()
	if err != nil {
		return gameid.Record{}, err
	}
	return r.Load(ctx, server)
}

func (s *switched) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	r, err := s.now()
	if err != nil {
		return false, err
	}
	return r.CompareAndSet(ctx, server, row, c)
}
