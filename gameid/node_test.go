package gameid_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
)

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

// The time of an ID is that of the clock, or later by at most the window: a
// node begins that far ahead, and its clock catches up.
func TestTimeIsTheClocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const window = 10 * time.Second
		begun := time.Now()
		n := open(t, newRegistry(), gameid.Options{})
		g := gameid.NewGenerator[player](n)
		for range 1000 {
			time.Sleep(rand.N(200 * time.Millisecond))
			id, now := next(t, g), time.Now().Truncate(time.Millisecond)
			if ahead := id.Time().Sub(now); ahead < 0 || ahead > max(0, window-now.Sub(begun)+time.Millisecond) {
				t.Fatalf("%s after the start, the time of %s is %s, the clock says %s", now.Sub(begun), id, id.Time(), now)
			}
		}
		if s := n.Stats(); s.Ahead != 0 || s.Waits != 0 || s.ClockSteps != 0 || s.Failures != 0 {
			t.Errorf("after an easy life: %+v", s)
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

// Fail ends minting at once and for good, also where callers mint, wait, or a
// renewal is under way, and Close then gives the lease back as ever.
func TestFail(t *testing.T) {
	reason := errors.New("the world runs elsewhere")
	bubble(t, func(t *testing.T) {
		r := newRegistry()
		n := open(t, r, gameid.Options{})
		g := gameid.NewGenerator[player](n)
		last := next(t, g)
		n.Fail(reason)
		n.Fail(errors.New("too late"))
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
			t.Error("a node that was ended renews its lease")
		}
		if err := n.Close(); err != nil || n.Err() != reason {
			t.Errorf("Close: %v; the node ended with %v", err, n.Err())
		}
		rec, _ := r.Memory.Load(t.Context(), server)
		if !rec.Holder.IsZero() || rec.Reserved != last.Millis() {
			t.Errorf("the lease was not given back: %+v, the last ID is of %d", rec, last.Millis())
		}
	})
	t.Run("without a reason", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			n := open(t, newRegistry(), gameid.Options{})
			defer func() {
				if recover() == nil || n.Err() != nil {
					t.Errorf("Fail(nil) does not panic, or ends the node with %v", n.Err())
				}
			}()
			n.Fail(nil)
		})
	})
	t.Run("during a renewal", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			r := newRegistry()
			n := open(t, r, gameid.Options{})
			last := next(t, gameid.NewGenerator[player](n))
			r.with(func(r *registry) { r.delay = time.Second })
			time.Sleep(10*time.Second/3 + time.Millisecond) // the first renewal has begun
			n.Fail(reason)
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
			n.Fail(reason)
			if _, lost := errors.AsType[*gameid.LostError](n.Err()); !lost {
				t.Errorf("Fail hides why the node ended: %v", n.Err())
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
			n.Fail(reason)
			stopped.Store(true)
			wg.Wait()
			if late.Load() > 0 {
				t.Fatalf("%d calls minted after Fail had returned", late.Load())
			}
		}
	})
}
