package gameidtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"mergesafe/gameid"
)

// TestReserver checks that a registry keeps the promises of
// [gameid.Reserver]. open returns a registry without rows. If it is called again with the same t,
// it must return a registry with the same rows, as two
// processes on one database have them.
func TestReserver(t *testing.T, open func(t *testing.T) gameid.Reserver) {
	const server gameid.ServerID = 7
	holder := func(token string) gameid.Holder {
		return gameid.Holder{
			Token: token, Host: "host-ü", PID: 4711, Program: `game "server"`,
			Since: time.Date(2026, 11, 21, 3, 0, 0, 123e6, time.UTC), Process: "boot/1/2",
		}
	}
	load := func(t *testing.T, r gameid.Reserver, server gameid.ServerID) gameid.Record {
		t.Helper()
		rec, err := r.Load(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	// at is the row with an epoch that holder(token) has, or nobody.
	at := func(epoch int64, token string) gameid.Record {
		return gameid.Record{Epoch: epoch, Holder: gameid.Holder{Token: token}}
	}
	set := func(t *testing.T, r gameid.Reserver, server gameid.ServerID, row gameid.Record, c gameid.Claim) bool {
		t.Helper()
		ok, err := r.CompareAndSet(t.Context(), server, row, c)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}

	t.Run("no row", func(t *testing.T) {
		rec := load(t, open(t), server)
		if rec.Epoch != 0 || rec.Reserved != 0 || rec.Window != 0 || !rec.Holder.IsZero() {
			t.Errorf("Load without a row: %+v", rec)
		}
		if d := time.Since(rec.Now).Abs(); d > time.Minute {
			t.Errorf("the registry's clock is off by %s", d)
		}
	})
	t.Run("round trip", func(t *testing.T) {
		r := open(t)
		claim := gameid.Claim{Reserved: gameid.MaxMillis, Window: time.Hour + time.Millisecond, Holder: holder("a"), Lease: time.Hour}
		if !set(t, r, server, at(0, ""), claim) {
			t.Fatal("the first claim was refused")
		}
		rec := load(t, r, server)
		if !rec.Holder.Since.Equal(claim.Holder.Since) {
			t.Errorf("holder since %s, wrote %s", rec.Holder.Since, claim.Holder.Since)
		}
		rec.Holder.Since = claim.Holder.Since // equal, but perhaps of another zone
		if rec.Holder != claim.Holder {
			t.Errorf("holder %+v, wrote %+v", rec.Holder, claim.Holder)
		}
		if rec.Epoch != 1 || rec.Reserved != gameid.MaxMillis || rec.Window != claim.Window {
			t.Errorf("got %+v", rec)
		}
		if left := rec.LeaseUntil.Sub(rec.Now); left > time.Hour || left < time.Hour-time.Minute {
			t.Errorf("a lease of an hour lasts %s", left)
		}
	})
	t.Run("only the right epoch", func(t *testing.T) {
		r := open(t)
		for epoch := range int64(3) {
			token := "a"
			if epoch == 0 {
				token = ""
			}
			for _, wrong := range []int64{epoch - 1, epoch + 1, epoch + 100} {
				if set(t, r, server, at(wrong, token), gameid.Claim{Reserved: 99, Holder: holder("wrong")}) {
					t.Fatalf("epoch %d was taken for %d", wrong, epoch)
				}
			}
			if got := load(t, r, server).Epoch; got != epoch {
				t.Fatalf("epoch is %d after refused claims, want %d", got, epoch)
			}
			// The same values again must count as a change: that is what the
			// epoch is for.
			if !set(t, r, server, at(epoch, token), gameid.Claim{Reserved: 5, Holder: holder("a"), Lease: time.Hour}) {
				t.Fatalf("epoch %d was refused", epoch)
			}
		}
	})
	t.Run("only the right holder", func(t *testing.T) {
		// In a registry that was restored, the epoch of an old holder may be
		// that of another one.
		r := open(t)
		for epoch, token := range []string{"", "ab", `a"b`, "", "Ab"} {
			rec := load(t, r, server)
			if rec.Epoch != int64(epoch) || rec.Holder.Token != token {
				t.Fatalf("the row is %+v, want epoch %d of %q", rec, epoch, token)
			}
			for _, wrong := range []string{"", "a", "ab", "abc", "Ab", `a"b`, "%", "_b"} {
				if wrong != token && epoch > 0 && set(t, r, server, at(rec.Epoch, wrong), gameid.Claim{Reserved: 99, Holder: holder("wrong")}) {
					t.Fatalf("holder %q was taken for %q", wrong, token)
				}
			}
			claim := gameid.Claim{Reserved: 5, Lease: time.Hour}
			if next := []string{"ab", `a"b`, "", "Ab", ""}[epoch]; next != "" {
				claim.Holder = holder(next)
			}
			if !set(t, r, server, rec, claim) {
				t.Fatalf("the right holder, %q, was refused", token)
			}
		}
	})
	t.Run("release lowers the mark", func(t *testing.T) {
		r := open(t)
		set(t, r, server, at(0, ""), gameid.Claim{Reserved: 1000, Holder: holder("a"), Lease: time.Hour})
		set(t, r, server, at(1, "a"), gameid.Claim{Reserved: 400})
		rec := load(t, r, server)
		if rec.Reserved != 400 || !rec.Holder.IsZero() || rec.LeaseUntil.After(rec.Now) {
			t.Errorf("after the release: %+v", rec)
		}
	})
	t.Run("the window is the largest of all claims", func(t *testing.T) {
		r, largest := open(t), time.Duration(0)
		for epoch, window := range []time.Duration{10 * time.Second, 100 * time.Millisecond, 48 * time.Hour, 0, 1234567 * time.Millisecond} {
			row, claim := load(t, r, server), gameid.Claim{Reserved: 1000, Window: window}
			if epoch%2 == 0 {
				claim.Holder, claim.Lease = holder("a"), time.Hour
			}
			if !set(t, r, server, row, claim) {
				t.Fatal("the claim was refused")
			}
			largest = max(largest, window)
			if got := load(t, open(t), server).Window; got != largest {
				t.Errorf("the row tells a window of %s, the largest claim was of %s", got, largest)
			}
		}
	})
	t.Run("a node claims with the largest window", func(t *testing.T) {
		const large = time.Minute // a node waits for its row for a part of the window, and the machine may be busy
		for _, window := range []time.Duration{large, 50 * time.Second} {
			before := load(t, open(t), server).Now
			node, err := gameid.OpenNode(t.Context(), server, open(t), gameid.Options{Window: window})
			if err != nil {
				t.Fatal(err)
			}
			live, mark := load(t, open(t), server), node.Stats().Mark
			if err := node.Close(); err != nil {
				t.Fatal(err)
			}
			closed := load(t, open(t), server)
			if live.Window != large || closed.Window != large || mark.Sub(before) < large-time.Second {
				t.Errorf("opened with a window of %s, the row tells %s, and %s when it is closed", window, live.Window, closed.Window)
			}
		}
	})
	t.Run("servers do not mix", func(t *testing.T) {
		r := open(t)
		set(t, r, 1, at(0, ""), gameid.Claim{Reserved: 10, Holder: holder("a"), Lease: time.Hour})
		set(t, r, gameid.MaxServer, at(0, ""), gameid.Claim{Reserved: 20, Holder: holder("b"), Lease: time.Hour})
		if a, b := load(t, r, 1), load(t, r, gameid.MaxServer); a.Reserved != 10 || b.Reserved != 20 || a.Epoch != 1 || b.Epoch != 1 {
			t.Errorf("got %+v and %+v", a, b)
		}
	})
	t.Run("of many claims one wins", func(t *testing.T) {
		const rounds, claimants = 20, 8
		registries := make([]gameid.Reserver, claimants)
		for i := range registries {
			registries[i] = open(t)
		}
		for round := range int64(rounds) {
			row := load(t, registries[0], server)
			var wins []int64
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i, r := range registries {
				wg.Go(func() {
					reserved := round*100 + int64(i)
					ok, err := r.CompareAndSet(t.Context(), server, row, gameid.Claim{Reserved: reserved, Holder: holder("x"), Lease: time.Hour})
					if err != nil {
						t.Error(err)
					}
					if ok {
						mu.Lock()
						wins = append(wins, reserved)
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			if len(wins) != 1 {
				t.Fatalf("round %d: %d claims won, want exactly one", round, len(wins))
			}
			if rec := load(t, registries[0], server); rec.Reserved != wins[0] || rec.Epoch != round+1 {
				t.Fatalf("round %d: the row holds %d at epoch %d, the winner wrote %d", round, rec.Reserved, rec.Epoch, wins[0])
			}
		}
	})
	t.Run("a cancelled context is an error", func(t *testing.T) {
		r := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Load(ctx, server); !errors.Is(err, context.Canceled) {
			t.Errorf("Load: %v", err)
		}
		if _, err := r.CompareAndSet(ctx, server, gameid.Record{}, gameid.Claim{}); !errors.Is(err, context.Canceled) {
			t.Errorf("CompareAndSet: %v", err)
		}
	})
	t.Run("a node lives on it", func(t *testing.T) {
		type thing struct{}
		var last gameid.Of[thing]
		for range 3 {
			node, err := gameid.OpenNode(t.Context(), server, open(t), gameid.Options{})
			if err != nil {
				t.Fatal(err)
			}
			id, err := gameid.NewGenerator[thing](node).Next()
			if err != nil || id.Compare(last) <= 0 {
				t.Fatalf("got %s, %v after %s", id, err, last)
			}
			last = id
			_, err = gameid.OpenNode(t.Context(), server, open(t), gameid.Options{})
			if held, ok := errors.AsType[*gameid.HeldError](err); !ok || held.Holder.PID == 0 {
				t.Errorf("a second node of the same server: %v", err)
			}
			if err := node.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
