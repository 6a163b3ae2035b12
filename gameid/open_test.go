package gameid_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
)

// While answers are lost each attempt reserves further times. If all are lost, the last claim may have been made, and
// OpenNode gives the lease back: the next node need not wait for its end.
func TestOpenWithLostAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		r.spoil(nil, errors.New("lost"))
		if _, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{}); err == nil || !strings.Contains(err.Error(), "server 7: lost") {
			t.Fatalf("error: %v", err)
		}
		first, last := r.claims[0], len(r.claims)-1
		for i, c := range r.claims[1:last] {
			if c.Holder.Token != first.Holder.Token || c.Reserved <= r.claims[i].Reserved {
				t.Errorf("claim %+v after %+v", c, r.claims[i])
			}
		}
		if c := r.claims[last]; !c.Holder.IsZero() || c.Reserved != r.claims[last-1].Reserved {
			t.Errorf("finally it wrote %+v", c)
		}
		r.spoil(nil, nil)
		open(t, r, gameid.Options{})
	})
}

func TestSecondNodeIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		advice := "stop that process"
		if n.Holder().Process != "" { // processes have names here
			advice = "that is this process"
		}
		for range 100 { // however long it goes on: the lease is renewed
			time.Sleep(time.Second)
			_, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{})
			held, ok := errors.AsType[*gameid.HeldError](err)
			if !ok || held.Server != server || held.Holder.PID == 0 || held.Holder.Host == "" || !held.LeaseUntil.After(held.Now) {
				t.Fatalf("a second node: %v", err)
			}
			for _, want := range []string{"server 7 is already running", held.Holder.Host, fmt.Sprint(held.Holder.PID), held.Holder.Program, "2026-11-21T03:00:00", "left", advice} {
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

func TestRefusedAtStart(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	at := func(t time.Time) int64 { ms, _ := gameid.MillisOf(t); return ms }
	type test struct {
		name   string
		server gameid.ServerID
		rec    gameid.Record
		floor  int64
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
		{name: "floor in the future", floor: at(now.AddDate(300, 0, 0)), is: is(new(*gameid.MarkError)), want: []string{"2326"}},
		{name: "server 0", server: 1 << 20, is: is(new(*gameid.ServerError)), want: []string{`"1048576"`, "1 to 1048575"}},
		{name: "window", opts: gameid.Options{Window: time.Millisecond}, want: []string{"Options.Window is 1ms", "100ms to 1m0s"}},
		{name: "a large window", opts: gameid.Options{Window: time.Minute + 1}, want: []string{"Options.Window is 1m0.000000001s", "100ms to 1m0s"}},
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
				r.floor = floorOf(c.floor)
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
		opts := gameid.Options{Window: time.Minute}
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
		const timeout, most = time.Second, 9*time.Second + 4*16*time.Millisecond // it waits for its clock too
		var loads, claims int
		start := time.Now()
		_, err := gameid.OpenNode(t.Context(), server, sluggish{timeout - 1, &loads, &claims}, gameid.Options{Window: 4 * timeout, Clock: gameid.SystemClock()})
		if !errors.Is(err, context.DeadlineExceeded) || loads != 5 || claims != 4 {
			t.Errorf("%d times read, %d times written: %v", loads, claims, err)
		}
		if took := time.Since(start); took > most || took < most-5 {
			t.Errorf("it took %s, want just below %s", took, most)
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

// OpenNode fails at once if it cannot read the registry, and after Timeout if
// that does not answer.
func TestOpenCannotRead(t *testing.T) {
	for _, c := range []struct {
		fault error
		delay time.Duration
		want  error
		takes time.Duration
	}{
		{fault: errors.ErrUnsupported, want: errors.ErrUnsupported},
		{delay: time.Hour, want: context.DeadlineExceeded, takes: 10 * time.Second / 4},
	} {
		bubble(t, func(t *testing.T) {
			r := newRegistry()
			r.before, r.delay = c.fault, c.delay
			start := time.Now()
			_, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{})
			if took := time.Since(start); took != c.takes || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "reading the registry row of server 7") {
				t.Errorf("after %s, want %s: %v", took, c.takes, err)
			}
		})
	}
}

// A process that loses the race for the row does not have the server: it reads
// the row again, and gives up if that goes on.
func TestOpenIsOvertaken(t *testing.T) {
	for _, by := range []gameid.Holder{{Token: "faster", Host: "host-b"}, {}} {
		bubble(t, func(t *testing.T) {
			r := overtaken{newRegistry(), by}
			_, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{})
			held, ok := errors.AsType[*gameid.HeldError](err)
			if by.IsZero() {
				ok = err != nil && strings.Contains(err.Error(), "other processes changed its row 4 times in a row")
			} else {
				ok = ok && held.Holder == by
			}
			if !ok || len(r.claims) != 0 {
				t.Errorf("overtaken by %s: %v; it wrote %v", by, err, r.claims)
			}
		})
	}
}

// overtaken is a registry whose row another process changes before each claim.
type overtaken struct {
	*registry
	by gameid.Holder
}

func (o overtaken) CompareAndSet(ctx context.Context, s gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	o.Set(s, gameid.Record{Epoch: row.Epoch + 1, Holder: o.by, LeaseUntil: time.Now().Add(time.Hour)})
	return o.registry.CompareAndSet(ctx, s, row, c)
}

// A ctx that ends sooner ends OpenNode within the attempt.
func TestOpenEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const timeout = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 3*timeout/2)
		defer cancel()
		var loads, claims int
		start := time.Now()
		_, err := gameid.OpenNode(ctx, server, sluggish{timeout - 1, &loads, &claims}, gameid.Options{Window: 4 * timeout, Clock: gameid.SystemClock()})
		if took := time.Since(start); took != 3*timeout/2 || loads != 1 || claims != 1 || !strings.Contains(err.Error(), "reserving times for server 7") {
			t.Errorf("%d times read, %d times written, after %s: %v", loads, claims, took, err)
		}
	})
}

// A process of this machine that has ended does not hold its lease to the end.
func TestEndedProcessHoldsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		open(t, r, gameid.Options{})
		rec := r.row(t)
		if rec.Holder.Process == "" {
			t.Skip("processes have no names here")
		}
		rec.Holder.Process += "0" // an earlier process with this PID
		r.Set(server, rec)
		open(t, r, gameid.Options{})
	})
}

// A mark is in the future only if it is ahead of both clocks: this machine's
// may be behind the one by which it was made.
func TestMarkByTheLaterClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, clock := newRegistry(), gameidtest.NewClock()
		mark, _ := gameid.MillisOf(time.Now().Add(4 * time.Minute))
		r.Set(server, gameid.Record{Epoch: 3, Reserved: mark})
		clock.Step(-4 * time.Minute)
		open(t, r, gameid.Options{Clock: clock})
	})
}

// A clock that is set right while the node is opened is followed from the first
// ID on.
func TestClockStepsWhileOpening(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, clock := newRegistry(), gameidtest.NewClock()
		r.delay = time.Second
		begun := time.Now()
		clock.Step(-time.Hour)
		time.AfterFunc(r.delay/2, func() { clock.Step(time.Hour) })
		n := open(t, r, gameid.Options{Clock: clock})
		const window = 10 * time.Second
		id, read := next(t, gameid.NewGenerator[player](n)), begun.Add(r.delay)
		if begins := read.Add(window + time.Millisecond); !id.Time().Equal(begins) {
			t.Errorf("the first ID is of %s, want %s: when it was opened, the clock said %s", id.Time(), begins, read)
		}
	})
}

// A row that was lost does no harm as long as the registry sees the IDs.
func TestFloor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		floor, _ := gameid.MillisOf(time.Now().Add(time.Minute))
		r.floor = floorOf(floor)
		n, start := open(t, r, gameid.Options{}), time.Now()
		if id := next(t, gameid.NewGenerator[player](n)); id.Millis() != floor+1 || time.Since(start) != 0 {
			t.Errorf("the floor is %d, the first ID of %d, after %s", floor, id.Millis(), time.Since(start))
		}
	})
}

// The floor is asked for once, whatever becomes of the registry later: the row alone says
// what to do then.
func TestFloorIsAskedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		for range 3 {
			r.spoil(nil, errors.New("the answer was lost"))
			time.Sleep(time.Minute) // the lease ends
			r.spoil(nil, nil)
			time.Sleep(time.Minute)
		}
		r.spoil(nil, errors.New("the answer was lost"))
		time.Sleep(time.Minute)
		r.spoil(nil, nil)
		if err := n.Close(); err != nil || r.floors != 1 {
			t.Errorf("Close: %v; the floor was asked for %d times", err, r.floors)
		}
	})
}

// The floor may take longer than any other call, but not for ever; and what ctx allows.
func TestFloorTakesItsTime(t *testing.T) {
	for _, c := range []struct{ takes, allowed, most time.Duration }{
		{takes: 50 * time.Second},
		{takes: time.Hour, most: time.Minute},
		{takes: 50 * time.Second, allowed: 40 * time.Second, most: 40 * time.Second},
	} {
		bubble(t, func(t *testing.T) {
			r, ctx := newRegistry(), t.Context()
			r.floor = func(ctx context.Context) (int64, error) { return 0, sleep(ctx, c.takes) }
			if c.allowed > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.allowed)
				defer cancel()
			}
			start := time.Now()
			n, err := gameid.OpenNode(ctx, server, r, gameid.Options{Clock: gameid.SystemClock()})
			if c.most == 0 && err == nil {
				n.Close()
			} else if took := time.Since(start); c.most == 0 || took != c.most || !errors.Is(err, context.DeadlineExceeded) ||
				!strings.Contains(err.Error(), "looking for the largest ID of server 7") {
				t.Errorf("a floor that takes %s, of %s: %v after %s", c.takes, c.allowed, err, took)
			}
		})
	}
}

// A mark beyond the layout, such as one that a person wrote to block a server, is one in the far future.
func TestMarkBeyondTheLayout(t *testing.T) {
	for _, mark := range []int64{gameid.MaxMillis, gameid.MaxMillis + 1, 1<<63 - 808, 1<<63 - 1} {
		r := newRegistry()
		r.Set(server, gameid.Record{Epoch: 1, Reserved: mark})
		_, err := gameid.OpenNode(t.Context(), server, r, gameid.Options{})
		if far, ok := errors.AsType[*gameid.MarkError](err); !ok || !far.Mark.Equal(gameid.Last()) {
			t.Errorf("%d: %v", mark, err)
		}
	}
}
