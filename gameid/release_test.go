package gameid_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
)

// A closed node is followed at once, above its last ID and a window ahead of the
// clock, as every node. A crashed one is followed after its lease, beyond all it
// had reserved.
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
		if b.Compare(a) <= 0 || time.Until(b.Time()) > 10*time.Second {
			t.Errorf("%s, after a clean restart at %s %s", a, time.Now(), b)
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

// A claim of the node itself that arrives while it closes is not taken for one of
// another process.
func TestCloseMeetsItsOwnClaim(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := &lateClaim{registry: newRegistry()}
		n := open(t, r, gameid.Options{})
		id := next(t, gameid.NewGenerator[player](n))
		r.armed.Store(true)
		time.Sleep(10*time.Second/3 + time.Millisecond) // a renewal is on its way, and the node is told that it failed
		if s := n.Stats(); s.Failures != 1 || r.late == nil {
			t.Fatalf("no renewal is under way: %+v", s)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if rec := r.row(t); r.late != nil || !rec.Holder.IsZero() || rec.Reserved != id.Millis() {
			t.Errorf("after Close: %+v, the last ID is of %d", rec, id.Millis())
		}
	})
}

// lateClaim is a registry that carries out a claim only after the next look at the row.
type lateClaim struct {
	*registry
	armed atomic.Bool
	late  func()
}

func (r *lateClaim) CompareAndSet(ctx context.Context, s gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	if !r.armed.CompareAndSwap(true, false) {
		return r.registry.CompareAndSet(ctx, s, row, c)
	}
	r.late = func() { r.registry.CompareAndSet(context.Background(), s, row, c) }
	return false, errors.New("the connection was lost")
}

func (r *lateClaim) Load(ctx context.Context, s gameid.ServerID) (gameid.Record, error) {
	rec, err := r.registry.Load(ctx, s)
	if r.late != nil {
		r.late()
		r.late = nil
	}
	return rec, err
}
