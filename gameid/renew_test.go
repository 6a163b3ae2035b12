package gameid_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

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
		// The lease had ended, so it continues where a node that is opened begins.
		id := next(t, g)
		if ahead := time.Until(id.Time()); id.Compare(last) <= 0 || ahead < 7*time.Second || ahead > 10*time.Second {
			t.Errorf("after the outage: %s, %s ahead of the clock; before: %s", id, ahead, last)
		}
		if s := n.Stats(); s.Lease != gameid.LeaseHeld || s.LastFailure != nil {
			t.Errorf("after the outage: %+v", s)
		}
	})
}

// A node without its registry tries again at growing intervals, not as often as
// it is asked for IDs.
func TestOutageIsNoStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		r.spoil(errors.New("the database is away"), nil)
		for range 20_000 {
			time.Sleep(time.Millisecond)
			_, _ = g.Next()
		}
		if s := n.Stats(); s.Failures < 10 || s.Failures > 20 {
			t.Errorf("%d calls to the registry in 20 s", s.Failures)
		}
	})
}

// However long the outage before, the first failure is followed by another
// attempt soon.
func TestFirstFailureIsRetriedSoon(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		r.spoil(errors.New("the database is away"), nil)
		time.Sleep(time.Minute)
		r.spoil(nil, nil)
		time.Sleep(10 * time.Second) // it has recovered
		failures, renewals := n.Stats().Failures, n.Stats().Renewals
		r.spoil(errors.New("the database is away"), nil)
		for n.Stats().Failures == failures {
			time.Sleep(time.Millisecond)
		}
		r.spoil(nil, nil)
		time.Sleep(200 * time.Millisecond)
		if s := n.Stats(); s.Renewals != renewals+1 {
			t.Errorf("200ms after one failure nothing was reserved: %+v", s)
		}
	})
}

// Half-way through its range a node asks for the next one as soon as the clock allows it,
// without waiting for the timer.
func TestRenewsHalfWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 300 * time.Millisecond
		n := open(t, newRegistry(), gameid.Options{Window: window})
		g := gameid.NewGenerator[player](n)
		time.Sleep(3*window + time.Millisecond) // the clock has caught up, and it has just renewed
		ids := make([]gameid.Of[player], 1<<16)
		before := n.Stats()
		for range 151 {
			if err := g.Fill(ids); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(15 * time.Millisecond)
		synctest.Wait()
		if s := n.Stats(); s.Renewals != before.Renewals+1 || s.Waits != before.Waits || !s.Mark.Equal(before.Mark.Add(16*time.Millisecond)) {
			t.Errorf("%d reservations, %d waits, the mark went from %s to %s", s.Renewals-before.Renewals, s.Waits-before.Waits, before.Mark, s.Mark)
		}
	})
}

// A node whose IDs are ahead of its clock reserves little more than it uses,
// so that a crash loop does not run further ahead.
func TestSmallStepsAheadOfTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		floor, _ := gameid.MillisOf(time.Now().Add(4 * time.Minute))
		r.floor = floorOf(floor)
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		for range 100 {
			next(t, g)
			time.Sleep(time.Second)
		}
		const step = 64
		if mark := r.row(t).Reserved; mark < floor+step || mark > floor+step+1 {
			t.Errorf("after 100 IDs it has reserved %d ms, want %d", mark-floor, step)
		}
		// A burst goes on in the same steps, without a wait for the clock.
		const used = 200
		start := time.Now()
		if err := g.Fill(make([]gameid.Of[player], used*65536)); err != nil || time.Since(start) != 0 {
			t.Fatalf("after %s: %v", time.Since(start), err)
		}
		time.Sleep(4 * time.Second)
		if left := n.Stats().Left; left < step/2*time.Millisecond || left > 3*step/2*time.Millisecond {
			t.Errorf("after %d ms of IDs %s are left", used, left)
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

func TestLeaseLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		time.Sleep(3 * time.Second) // so that there is room for a second from now
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
		if s := n.Stats(); s.Failures != 0 {
			t.Errorf("%d renewals failed, instead of reading the row again: %v", s.Failures, s.LastFailure)
		}
	})
}

// A node never forgets what it has used: not when the row was restored from an
// older copy, cannot be written again, and the node is closed meanwhile.
func TestRowRestoredAndReleased(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		old := r.row(t)
		time.Sleep(time.Minute)
		last, mark := next(t, gameid.NewGenerator[player](n)), n.Stats().Mark
		r.Set(server, old)
		r.with(func(r *registry) { r.unset = errors.New("read-only") })
		time.Sleep(10 * time.Second) // it has read the older row, and could not write
		if s := n.Stats(); s.Failures == 0 || s.Mark.Before(mark) || s.Newest != last.Time() {
			t.Errorf("the mark was %s, the newest ID of %s; now: %+v", mark, last.Time(), s)
		}
		r.with(func(r *registry) { r.unset = nil })
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if rec := r.row(t); rec.Reserved < last.Millis() {
			t.Errorf("the row says %d, the last ID is of %d", rec.Reserved, last.Millis())
		}
	})
}

// No time is used before the registry has answered that it is reserved: a call
// that finds the clock beyond the range waits, and gets no ID if the answer is
// an error.
func TestNothingIsIssuedBeforeTheAnswer(t *testing.T) {
	const delay = 2 * time.Second
	for _, refused := range []error{nil, errors.New("the disk is full")} {
		bubble(t, func(t *testing.T) {
			r, clock := newRegistry(), gameidtest.NewClock()
			n := open(t, r, gameid.Options{Clock: clock})
			g := gameid.NewGenerator[player](n)
			next(t, g)
			r.with(func(r *registry) { r.delay, r.unset = delay, refused })
			clock.Step(time.Minute)                         // beyond all that is reserved
			time.Sleep(10*time.Second/3 + time.Millisecond) // the first renewal has begun, and seen the step
			start := time.Now()
			id, err := g.Next()
			want := delay
			if refused == nil {
				want *= 2 // by the clock that stepped the lease had ended: the second claim has room beyond the window
			}
			if took := time.Since(start); took.Round(50*time.Millisecond) != want || !errors.Is(err, refused) {
				t.Errorf("Next took %s, want %s: %s, %v", took, want, id, err)
			}
			if mark := r.row(t).Reserved; err == nil && id.ID().Millis() > mark || n.Stats().Mark.After(gameid.TimeOf(mark)) {
				t.Errorf("%s and the mark %s, reserved up to %s", id, n.Stats().Mark, gameid.TimeOf(mark))
			}
		})
	}
}

// A clock that steps ahead while a renewal is on the way ends the lease by that clock, so the node skips to where
// another may have been. When the clock is set back, it mints there at once, and asks the registry as rarely as ever.
func TestSkippedAheadOfTheClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, clock := newRegistry(), gameidtest.NewClock()
		n := open(t, r, gameid.Options{Clock: clock})
		g := gameid.NewGenerator[player](n)
		next(t, g)
		r.with(func(r *registry) { r.delay = 2 * time.Second })
		time.Sleep(10*time.Second/3 + time.Millisecond) // the first renewal is on the way
		clock.Step(time.Minute)
		time.Sleep(2 * time.Second) // its answer came
		clock.Step(-time.Minute)
		r.with(func(r *registry) { r.delay = time.Millisecond })
		time.Sleep(2 * time.Second) // the one that began with the delay has ended
		before := n.Stats().Renewals
		if ahead := time.Until(next(t, g).Time()); ahead < time.Minute {
			t.Errorf("the ID is %s ahead of the clock: the node did not skip", ahead)
		}
		time.Sleep(10 * time.Second)
		next(t, g)
		if asked := n.Stats().Renewals - before; asked > 10 {
			t.Errorf("the node renewed its lease %d times in 10 s", asked)
		}
	})
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
