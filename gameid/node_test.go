package gameid_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

type item struct{}

const server gameid.ServerID = 7

// bubble runs f in virtual time, which starts within the layout.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)))
		f(t)
	})
}

// registry is a registry in memory whose answers a test can spoil.
type registry struct {
	*gameidtest.Memory

	mu     sync.Mutex
	before error // returned instead of doing anything
	after  error // returned by CompareAndSet after doing it
	delay  time.Duration
	claims []gameid.Claim // that were written
}

func newRegistry() *registry { return &registry{Memory: gameidtest.NewMemory()} }

// row is what the registry has of the server.
func (r *registry) row(t *testing.T) gameid.Record {
	t.Helper()
	rec, err := r.Memory.Load(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func (r *registry) spoil(before, after error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before, r.after = before, after
}

func (r *registry) faults() (before, after error, delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.before, r.after, r.delay
}

func (r *registry) Load(ctx context.Context, s gameid.ServerID) (gameid.Record, error) {
	before, _, delay := r.faults()
	if before != nil {
		return gameid.Record{}, before
	}
	if err := sleep(ctx, delay); err != nil {
		return gameid.Record{}, err
	}
	return r.Memory.Load(ctx, s)
}

func (r *registry) CompareAndSet(ctx context.Context, s gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	before, after, delay := r.faults()
	if before != nil {
		return false, before
	}
	if err := sleep(ctx, delay); err != nil {
		return false, err
	}
	ok, err := r.Memory.CompareAndSet(ctx, s, row, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok {
		r.claims = append(r.claims, c)
	}
	if after != nil {
		return false, after
	}
	return ok, err
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func open(t *testing.T, r gameid.Reserver, opts gameid.Options) *gameid.Node {
	t.Helper()
	if opts.Clock == nil {
		opts.Clock = gameid.SystemClock() // most of these tests run in virtual time
	}
	n, err := gameid.OpenNode(t.Context(), server, r, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() }) // tests that care look at the error themselves
	return n
}

func next(t *testing.T, g *gameid.Generator[player]) gameid.ID {
	t.Helper()
	id, err := g.Next()
	if err != nil {
		t.Fatal(err)
	}
	return id.ID()
}

// crash leaves the node as a process that was killed leaves it: nothing is
// given back. Within one process its lease still has to run out.
func crash(t *testing.T, r *registry, n *gameid.Node) {
	t.Helper()
	before, after, _ := r.faults()
	r.spoil(errors.New("crashed"), nil)
	n.Close()
	r.spoil(before, after)
	rec, err := r.Memory.Load(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	rec.LeaseUntil = rec.Now
	r.Set(server, rec)
}

func TestUniqueAndRisingOverGoroutinesAndKinds(t *testing.T) {
	n := open(t, newRegistry(), gameid.Options{})
	const goroutines, rounds = 16, 500
	all := make([][]gameid.ID, goroutines)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			players, items := gameid.NewGenerator[player](n), gameid.NewGenerator[item](n)
			loot := make([]gameid.Of[item], 7)
			for range rounds {
				p, err := players.Next()
				if err != nil {
					t.Error(err)
					return
				}
				if err := items.Fill(loot); err != nil {
					t.Error(err)
					return
				}
				all[i] = append(all[i], p.ID())
				for _, id := range loot {
					all[i] = append(all[i], id.ID())
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[gameid.ID]bool)
	for _, ids := range all {
		if !slices.IsSortedFunc(ids, gameid.ID.Compare) {
			t.Error("the IDs that one goroutine got do not rise")
		}
		for _, id := range ids {
			if seen[id] {
				t.Fatalf("%s was issued twice", id)
			}
			seen[id] = true
			if id.Server() != server {
				t.Fatalf("%s is of server %d", id, id.Server())
			}
		}
	}
	want := map[string]uint64{"player": goroutines * rounds, "item": goroutines * rounds * 7}
	if got := n.Stats().Minted; len(got) != 2 || got["player"] != want["player"] || got["item"] != want["item"] {
		t.Errorf("Stats().Minted is %v, want %v", got, want)
	}
}

func TestTimeIsTheClocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := open(t, newRegistry(), gameid.Options{})
		g := gameid.NewGenerator[player](n)
		for range 1000 {
			time.Sleep(rand.N(200 * time.Millisecond))
			if id := next(t, g); !id.Time().Equal(time.Now().Truncate(time.Millisecond)) {
				t.Fatalf("the time of %s is %s, the clock says %s", id, id.Time(), time.Now())
			}
		}
		if s := n.Stats(); s.Ahead != 0 || s.Waits != 0 || s.ClockSteps != 0 || s.Failures != 0 {
			t.Errorf("after an easy life: %+v", s)
		}
	})
}

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

func TestOutage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{Window: 9 * time.Second})
		g := gameid.NewGenerator[player](n)
		away := errors.New("the database is away")
		r.spoil(away, nil)
		start := time.Now()
		var err error
		var last gameid.ID
		for err == nil {
			time.Sleep(100 * time.Millisecond)
			var id gameid.Of[player]
			if id, err = g.Next(); err == nil {
				last = id.ID()
			}
		}
		// It lasted for most of the window, not longer.
		if lasted := time.Since(start); lasted < 6*time.Second || lasted > 9100*time.Millisecond {
			t.Errorf("minting went on for %s", lasted)
		}
		exhausted, ok := errors.AsType[*gameid.ExhaustedError](err)
		if !ok || !errors.Is(err, away) || exhausted.Server != server || !strings.Contains(err.Error(), away.Error()) {
			t.Fatalf("the error is %v", err)
		}
		if last.Time().After(exhausted.Until) {
			t.Errorf("%s lies beyond the mark %s", last.Time(), exhausted.Until)
		}
		ids := make([]gameid.Of[player], 5)
		if err := g.Fill(ids); !errors.Is(err, away) || ids[0].IsValid() {
			t.Errorf("Fill: %v, %v", err, ids)
		}
		time.Sleep(time.Minute)
		if s := n.Stats(); s.Lease != gameid.LeaseExpired || s.Failures < 10 || !errors.Is(s.LastFailure, away) || s.Left != 0 {
			t.Errorf("after a minute without the registry: %+v", s)
		}

		r.spoil(nil, nil)
		time.Sleep(2 * time.Second)
		if id := next(t, g); id.Compare(last) <= 0 || !id.Time().Equal(time.Now()) {
			t.Errorf("after the outage: %s, before: %s", id, last)
		}
		if s := n.Stats(); s.Lease != gameid.LeaseHeld || s.LastFailure != nil {
			t.Errorf("after the outage: %+v", s)
		}
	})
}

// Whatever becomes of the answers, only what was surely reserved is used.
func TestUnknownOutcomes(t *testing.T) {
	lost := errors.New("the answer was lost")
	for _, applied := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			r := newRegistry()
			n := open(t, r, gameid.Options{})
			g := gameid.NewGenerator[player](n)
			last := next(t, g)
			for range 20 {
				if applied {
					r.spoil(nil, lost)
				} else {
					r.spoil(lost, nil)
				}
				time.Sleep(4 * time.Second)
				r.spoil(nil, nil)
				time.Sleep(4 * time.Second)
				id := next(t, g)
				if rec, err := r.Memory.Load(t.Context(), server); err != nil || id.Millis() > rec.Reserved || id.Compare(last) <= 0 {
					t.Fatalf("%s after %s, reserved up to %s", id, last, gameid.TimeOf(rec.Reserved))
				}
				last = id
			}
			if s := n.Stats(); s.Failures == 0 || s.Lease != gameid.LeaseHeld {
				t.Errorf("%+v", s)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			if rec, _ := r.Memory.Load(t.Context(), server); !rec.Holder.IsZero() || rec.Reserved != last.Millis() {
				t.Errorf("after Close: %+v, the last ID is of %d", rec, last.Millis())
			}
		})
	}
}

func TestOpenWithLostAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		r.spoil(nil, errors.New("lost"))
		if _, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{}); err == nil || !strings.Contains(err.Error(), "server 7: lost") {
			t.Fatalf("error: %v", err)
		}
		var first gameid.Claim
		for _, c := range r.claims {
			if first.Reserved == 0 {
				first = c
			} else if c.Holder.Token != first.Holder.Token || c.Reserved <= first.Reserved {
				t.Errorf("claim %+v after %+v", c, first)
			}
		}
		r.spoil(nil, nil)
		time.Sleep(time.Minute)
		open(t, r, gameid.Options{})
	})
}

func TestSecondNodeIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		for range 100 { // however long it goes on: the lease is renewed
			time.Sleep(time.Second)
			_, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{})
			held, ok := errors.AsType[*gameid.HeldError](err)
			if !ok || held.Server != server || held.Holder.PID == 0 || held.Holder.Host == "" || !held.LeaseUntil.After(held.Now) {
				t.Fatalf("a second node: %v", err)
			}
			for _, want := range []string{"server 7 is already running", held.Holder.Host, fmt.Sprint(held.Holder.PID), held.Holder.Program, "2026-11-21T03:00:00", "left"} {
				if !strings.Contains(err.Error(), want) {
					t.Fatalf("%q is not in %q", want, err)
				}
			}
		}
		if err := n.Err(); err != nil {
			t.Errorf("the first node: %v", err)
		}
		other, err := gameid.OpenNode(t.Context(), server+1, r, gameid.Options{})
		if err != nil {
			t.Fatalf("another server: %v", err)
		}
		other.Close()
	})
}

// A closed node is followed at once, right after its last ID. A crashed one is
// followed after its lease, beyond all it had reserved.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		a := next(t, gameid.NewGenerator[player](n))
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
		n = open(t, r, gameid.Options{})
		b := next(t, gameid.NewGenerator[player](n))
		if b.Compare(a) <= 0 || b.Time().Sub(a.Time()) > time.Millisecond {
			t.Errorf("%s, after a clean restart %s", a, b)
		}

		r.spoil(errors.New("gone"), nil)
		if err := n.Close(); err == nil || !strings.Contains(err.Error(), "giving back the lease of server 7: gone") {
			t.Errorf("Close without the registry: %v", err)
		}
		r.spoil(nil, nil)
		if _, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{}); err == nil {
			t.Error("the lease was not given back, and yet another node started")
		}
		time.Sleep(15 * time.Second)
		mark := r.claims[len(r.claims)-1].Reserved
		n = open(t, r, gameid.Options{})
		if c := next(t, gameid.NewGenerator[player](n)); c.Millis() <= mark {
			t.Errorf("%s lies within what the crashed node had reserved", c)
		}
	})
}

// However often a process crashes, its successors do not run further and
// further ahead of the clock.
func TestCrashLoopDoesNotCreep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		seen := make(map[gameid.ID]bool)
		var last gameid.ID
		for range 500 {
			n := open(t, r, gameid.Options{})
			g := gameid.NewGenerator[player](n)
			for range 10 {
				time.Sleep(10 * time.Millisecond)
				id := next(t, g)
				if seen[id] || id.Compare(last) <= 0 {
					t.Fatalf("%s after %s", id, last)
				}
				seen[id], last = true, id
			}
			if ahead := n.Stats().Ahead; ahead > 11*time.Second {
				t.Fatalf("%s ahead of the clock", ahead)
			}
			crash(t, r, n)
		}
	})
}

func TestLeaseLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		last := next(t, g)
		rec, _ := r.Memory.Load(t.Context(), server)
		thief := gameid.Holder{Token: "thief", Host: "host-b", PID: 99, Program: "other"}
		r.Set(server, gameid.Record{Epoch: rec.Epoch + 1, Reserved: rec.Reserved + 5000, Holder: thief, LeaseUntil: time.Now().Add(time.Hour)})
		<-n.Done()
		for _, err := range []error{n.Err(), g.Fill(make([]gameid.Of[player], 3)), func() error { _, err := g.Next(); return err }()} {
			lost, ok := errors.AsType[*gameid.LostError](err)
			if !ok || lost.Holder != thief || !strings.Contains(err.Error(), "other (pid 99) on host-b") {
				t.Errorf("the error is %v", err)
			}
		}
		if s := n.Stats(); s.Lease != gameid.LeaseLost || s.Newest != last.Time() {
			t.Errorf("%+v", s)
		}
		if err := n.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if after, _ := r.Memory.Load(t.Context(), server); after.Holder != thief {
			t.Errorf("the new holder was overwritten: %+v", after)
		}
		if err := n.Err(); err == gameid.ErrClosed {
			t.Error("Close hides why the node ended")
		}
	})
}

// The row of a database that was restored from an older copy is older than
// the running node: it writes its own mark again and goes on.
func TestRowRestored(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		old, _ := r.Memory.Load(t.Context(), server)
		time.Sleep(time.Minute)
		last := next(t, g)
		r.Set(server, old)
		time.Sleep(10 * time.Second)
		if id := next(t, g); id.Compare(last) <= 0 {
			t.Errorf("%s after %s", id, last)
		}
		if rec, _ := r.Memory.Load(t.Context(), server); rec.Reserved < last.Millis() {
			t.Errorf("the row says %d, the last ID is of %d", rec.Reserved, last.Millis())
		}
	})
}

func TestRefusedAtStart(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	at := func(t time.Time) int64 { ms, _ := gameid.MillisOf(t); return ms }
	type test struct {
		name   string
		server gameid.ServerID
		rec    gameid.Record
		opts   gameid.Options
		step   time.Duration
		want   []string
		is     func(error) bool
	}
	is := func(target any) func(error) bool { return func(err error) bool { return errors.As(err, target) } }
	for _, c := range []test{
		{name: "clock behind", step: -6 * time.Minute, is: is(new(*gameid.ClockError)), want: []string{"02:54:00", "03:00:00", "6m0s", "5m0s"}},
		{name: "clock ahead", step: 6 * time.Minute, is: is(new(*gameid.ClockError)), want: []string{"03:06:00", "03:00:00"}},
		{name: "clock before the epoch", step: -10 * 365 * 24 * time.Hour, is: is(new(*gameid.TimeError)), want: []string{"2016", "clock of this machine"}},
		{name: "mark in the future", rec: gameid.Record{Epoch: 3, Reserved: at(now.Add(24 * time.Hour))}, is: is(new(*gameid.MarkError)), want: []string{"2026-11-22", "24h0m0s ahead"}},
		{name: "floor in the future", rec: gameid.Record{Epoch: 3, Floor: at(now.AddDate(300, 0, 0))}, is: is(new(*gameid.MarkError)), want: []string{"2326"}},
		{name: "server 0", server: 1 << 20, is: is(new(*gameid.ServerError)), want: []string{`"1048576"`, "1 to 1048575"}},
		{name: "window", opts: gameid.Options{Window: time.Millisecond}, want: []string{"Options.Window is 1ms", "at least 100ms"}},
		{name: "ahead", opts: gameid.Options{Ahead: time.Hour}, want: []string{"Options.Ahead is 1h"}},
		{name: "lease", opts: gameid.Options{Lease: time.Second}, want: []string{"Options.Lease is 1s"}},
		{name: "timeout", opts: gameid.Options{Timeout: time.Hour}, want: []string{"Options.Timeout is 1h"}},
		{name: "skew", opts: gameid.Options{MaxSkew: -1}, want: []string{"Options.MaxSkew is -1ns"}},
		{name: "skew below the window", opts: gameid.Options{Window: time.Minute, MaxSkew: 2*time.Minute - 1}, want: []string{"Options.MaxSkew is 1m59.999999999s", "at least twice Window (2m0s)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, clock := newRegistry(), gameidtest.NewClock()
				clock.Step(c.step)
				c.opts.Clock = clock
				if c.server == 0 {
					c.server = server
				}
				r.Set(c.server, c.rec)
				_, err := gameid.OpenNode(t.Context(), c.server, r, c.opts)
				if err == nil || c.is != nil && !c.is(err) {
					t.Fatalf("error: %v", err)
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is not in %q", want, err)
					}
				}
				if len(r.claims) != 0 {
					t.Errorf("it wrote %+v", r.claims)
				}
			})
		})
	}
}

// That the registry took its time to answer is no disagreement of the clocks.
func TestSlowAnswerIsNoSkew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, clock := newRegistry(), gameidtest.NewClock()
		r.delay = 2 * time.Second
		begun := time.Now()
		r.Now = func() time.Time { return begun } // its clock was read before the delay
		clock.Step(19 * time.Second)
		open(t, r, gameid.Options{Clock: clock, MaxSkew: 20 * time.Second})
	})
}

// However large the window, the mark that a crash leaves does not keep the
// next process from starting.
func TestCrashLeavesNoMarkTooFar(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		opts := gameid.Options{Window: time.Hour}
		open(t, r, opts)
		crashed := r.row(t)
		crashed.Holder = gameid.Holder{} // known to have ended
		r.Set(server, crashed)
		open(t, r, opts)
	})
}

// OpenNode gives up in the end, and says what was wrong.
func TestOpenTakesItsTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const timeout = time.Second
		var loads, claims int
		start := time.Now()
		_, err := gameid.OpenNode(t.Context(), server, sluggish{timeout - 1, &loads, &claims}, gameid.Options{Timeout: timeout, Clock: gameid.SystemClock()})
		if !errors.Is(err, context.DeadlineExceeded) || loads != 4 || claims != 4 {
			t.Errorf("%d times read, %d times written: %v", loads, claims, err)
		}
		if took := time.Since(start); took > 8*timeout || took < 8*timeout-4 {
			t.Errorf("it took %s, want just below %s", took, 8*timeout)
		}
	})
}

// sluggish answers to Load after a while, and to CompareAndSet not at all.
type sluggish struct {
	delay         time.Duration
	loads, claims *int
}

func (s sluggish) Load(ctx context.Context, _ gameid.ServerID) (gameid.Record, error) {
	*s.loads++
	return gameid.Record{Now: time.Now()}, sleep(ctx, s.delay)
}

func (s sluggish) CompareAndSet(ctx context.Context, _ gameid.ServerID, _ gameid.Record, _ gameid.Claim) (bool, error) {
	*s.claims++
	<-ctx.Done()
	return false, ctx.Err()
}

// In a registry that was restored from an older copy the epoch comes round
// again. The node that lives on loses then, instead of writing over the row of
// the one that came after it.
func TestEpochComesRound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		old := open(t, r, gameid.Options{})
		rec := r.row(t)
		rec.Holder = gameid.Holder{Token: "another", PID: 4711, Program: "game", Host: "host-b"}
		r.Set(server, rec) // of the same epoch
		time.Sleep(5 * time.Second)
		lost, ok := errors.AsType[*gameid.LostError](old.Err())
		if !ok || lost.Holder.PID != 4711 {
			t.Errorf("the old node: %v", old.Err())
		}
		if now := r.row(t); now.Holder.Token != "another" || now.Epoch != rec.Epoch {
			t.Errorf("the row was %+v, is %+v", rec, now)
		}
	})
}

// A row that was lost does no harm as long as the registry sees the IDs.
func TestFloor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		floor, _ := gameid.MillisOf(time.Now().Add(time.Minute))
		r.Set(server, gameid.Record{Floor: floor})
		n := open(t, r, gameid.Options{})
		if id := next(t, gameid.NewGenerator[player](n)); id.Millis() != floor+1 {
			t.Errorf("the floor is %d, the first ID of %d", floor, id.Millis())
		}
	})
}

// At the cap of the layout a node waits for the clock: it never runs ahead by
// more than Options.Ahead, and gets on as fast as the layout allows.
func TestCap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opts := gameid.Options{Window: time.Second, Ahead: 20 * time.Millisecond}
		n := open(t, newRegistry(), opts)
		g := gameid.NewGenerator[player](n)
		start := time.Now()
		ids := make([]gameid.Of[player], 10*65536)
		var last gameid.Of[player]
		const rounds = 10
		for range rounds {
			if err := g.Fill(ids); err != nil {
				t.Fatal(err)
			}
			if ids[0].Compare(last) <= 0 || !slices.IsSortedFunc(ids, gameid.Of[player].Compare) {
				t.Fatal("the IDs do not rise")
			}
			last = ids[len(ids)-1]
			if ahead := last.Time().Sub(time.Now()); ahead > opts.Ahead {
				t.Fatalf("%s ahead of the clock", ahead)
			}
		}
		took, least := time.Since(start), rounds*10*time.Millisecond-opts.Ahead-time.Millisecond
		if took < least || took > least+10*time.Millisecond {
			t.Errorf("%d IDs took %s, want %s", rounds*len(ids), took, least)
		}
		if s := n.Stats(); s.Waits == 0 || s.Ahead > opts.Ahead {
			t.Errorf("%+v", s)
		}
	})
}

// A wait ends with its context, and with Close.
func TestWaitEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cause := errors.New("enough")
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		ids := make([]gameid.Of[player], 1<<20)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(cause) })
		var err error
		for err == nil {
			err = g.FillContext(ctx, ids)
		}
		if !errors.Is(err, cause) || slices.ContainsFunc(ids, gameid.Of[player].IsValid) {
			t.Errorf("the context ended the wait with %v", err)
		}
		for err = nil; err == nil; {
			_, err = g.NextContext(ctx) // looks at its context at the cap only
		}
		if !errors.Is(err, cause) {
			t.Errorf("NextContext at the cap: %v", err)
		}
		time.AfterFunc(0, func() { n.Close() })
		err = nil
		for err == nil {
			err = g.Fill(ids)
		}
		if err != gameid.ErrClosed || n.Err() != gameid.ErrClosed || n.Stats().Lease != gameid.LeaseClosed {
			t.Errorf("Close ended the wait with %v", err)
		}
		if _, err := g.Next(); err != gameid.ErrClosed {
			t.Errorf("Next after Close: %v", err)
		}
		<-n.Done()
	})
}

// A registry that answers slowly costs nothing as long as it answers within
// the window, and a hanging one does not block a caller for ever.
func TestSlowRegistry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		r.mu.Lock()
		r.delay = 2 * time.Second
		r.mu.Unlock()
		for range 1000 {
			time.Sleep(50 * time.Millisecond)
			start := time.Now()
			next(t, g)
			if time.Since(start) != 0 {
				t.Fatalf("Next took %s", time.Since(start))
			}
		}
		r.mu.Lock()
		r.delay = time.Hour
		r.mu.Unlock()
		time.Sleep(time.Minute)
		start := time.Now()
		if _, err := g.Next(); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 3*time.Second {
			t.Errorf("with a hanging registry: %v after %s", err, time.Since(start))
		}
	})
}

// At low rates the low bits must not stand still, or whatever shards by them
// would put everything into one shard.
func TestLowBitsSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := gameid.NewGenerator[player](open(t, newRegistry(), gameid.Options{}))
		const count = 100_000
		var buckets [64]int
		for range count {
			time.Sleep(time.Millisecond + rand.N(5*time.Millisecond))
			buckets[next(t, g).Sequence()&63]++
		}
		var chi2 float64
		for _, n := range buckets {
			d := float64(n) - count/64.0
			chi2 += d * d / (count / 64.0)
		}
		// 63 degrees of freedom: 103.4 is exceeded once in a thousand.
		if chi2 > 103.4 {
			t.Errorf("chi-square of the low six bits is %.1f: %d", chi2, buckets)
		}
	})
}

func TestStats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := open(t, newRegistry(), gameid.Options{})
		next(t, gameid.NewGenerator[player](n))
		s := n.Stats()
		if s.Server != server || s.Lease != gameid.LeaseHeld || s.LeaseLeft != 15*time.Second || s.Left != 10*time.Second ||
			!s.Mark.Equal(time.Now().Add(10*time.Second)) || !s.Newest.Equal(time.Now()) || s.Renewals != 1 {
			t.Errorf("%+v", s)
		}
		if s.LayoutYearsLeft < 555 || s.LayoutYearsLeft > 556 {
			t.Errorf("years left: %f", s.LayoutYearsLeft)
		}
		time.Sleep(time.Hour)
		if s := n.Stats(); s.Renewals < 1000 || s.Left < 6*time.Second || s.LeaseLeft < 10*time.Second {
			t.Errorf("after an hour: %+v", s)
		}
	})
}

func TestMintingDoesNotAllocate(t *testing.T) {
	g := gameid.NewGenerator[player](open(t, newRegistry(), gameid.Options{}))
	ids := make([]gameid.Of[player], 100)
	for name, f := range map[string]func(){
		"Next": func() { _, _ = g.Next() },
		"Fill": func() { _ = g.Fill(ids) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	n, err := gameid.OpenNode(b.Context(), server, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	g := gameid.NewGenerator[player](n)
	b.Run("goroutines=1", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.Next(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("goroutines=all", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := g.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

func BenchmarkFill(b *testing.B) {
	n, err := gameid.OpenNode(b.Context(), server, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	g := gameid.NewGenerator[player](n)
	for _, size := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("ids=%d", size), func(b *testing.B) {
			ids := make([]gameid.Of[player], size)
			for b.Loop() {
				if err := g.Fill(ids); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(size), "ns/ID")
		})
	}
}

func BenchmarkText(b *testing.B) {
	id := gameid.MustParse("02a1d5c3f7b0000c01f4")
	text, buf := id.String(), make([]byte, 0, 32)
	b.Run("AppendText", func(b *testing.B) {
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("Parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := gameid.Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Stop ends minting at once and for good, also where callers mint, wait, or a
// renewal is under way, and Close then gives the lease back as ever.
func TestStop(t *testing.T) {
	reason := errors.New("the world runs elsewhere")
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		last := next(t, g)
		n.Stop(reason)
		n.Stop(errors.New("too late"))
		<-n.Done()
		_, nextErr := g.Next()
		for _, err := range []error{n.Err(), nextErr, g.Fill(make([]gameid.Of[player], 3))} {
			if err != reason {
				t.Errorf("the error is %v", err)
			}
		}
		if s := n.Stats(); s.Lease != gameid.LeaseLost || s.Newest != last.Time() || s.Left != 0 || s.LeaseLeft != 0 {
			t.Errorf("%+v", s)
		}
		renewals := n.Stats().Renewals
		time.Sleep(time.Minute)
		if s := n.Stats(); s.Renewals != renewals {
			t.Error("a stopped node renews its lease")
		}
		if err := n.Close(); err != nil || n.Err() != reason {
			t.Errorf("Close: %v; the node ended with %v", err, n.Err())
		}
		rec, _ := r.Memory.Load(t.Context(), server)
		if !rec.Holder.IsZero() || rec.Reserved != last.Millis() {
			t.Errorf("the lease was not given back: %+v, the last ID is of %d", rec, last.Millis())
		}
	})
	t.Run("during a renewal", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newRegistry()
			n := open(t, r, gameid.Options{})
			last := next(t, gameid.NewGenerator[player](n))
			r.mu.Lock()
			r.delay = time.Second
			r.mu.Unlock()
			time.Sleep(10*time.Second/3 + time.Millisecond) // the first renewal has begun
			n.Stop(reason)
			if err := n.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if rec, _ := r.Memory.Load(t.Context(), server); !rec.Holder.IsZero() || rec.Reserved != last.Millis() {
				t.Errorf("the lease was not given back: %+v", rec)
			}
		})
	})
	t.Run("after another took over", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newRegistry()
			n := open(t, r, gameid.Options{})
			thief := gameid.Holder{Token: "thief"}
			r.Set(server, gameid.Record{Epoch: 99, Holder: thief, LeaseUntil: time.Now().Add(time.Hour)})
			<-n.Done()
			n.Stop(reason)
			if _, lost := errors.AsType[*gameid.LostError](n.Err()); !lost {
				t.Errorf("Stop hides why the node ended: %v", n.Err())
			}
			if err := n.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if rec, _ := r.Memory.Load(t.Context(), server); rec.Holder != thief {
				t.Errorf("the new holder was overwritten: %+v", rec)
			}
		})
	})
	// In real time, with as many goroutines as there are ways to mint.
	t.Run("under load", func(t *testing.T) {
		for range 20 {
			n := open(t, newRegistry(), gameid.Options{Clock: gameid.SystemClock()})
			g := gameid.NewGenerator[player](n)
			var minted, late atomic.Int64
			var stopped atomic.Bool
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					batch := make([]gameid.Of[player], 1+i*10)
					for {
						after := stopped.Load()
						if err := g.Fill(batch); err != nil {
							if err != reason {
								t.Error(err)
							}
							return
						}
						if minted.Add(1); after {
							late.Add(1)
						}
					}
				})
			}
			for minted.Load() < 100 {
				runtime.Gosched()
			}
			n.Stop(reason)
			stopped.Store(true)
			wg.Wait()
			if late.Load() > 0 {
				t.Fatalf("%d calls minted after Stop had returned", late.Load())
			}
		}
	})
}
