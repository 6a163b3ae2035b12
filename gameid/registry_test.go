package gameid_test

import (
	"context"
	"errors"
	"sync"
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
	unset  error // returned by CompareAndSet instead of doing anything
	after  error // returned by CompareAndSet after doing it
	delay  time.Duration
	floor  func(context.Context) (int64, error) // nil: there are no IDs
	floors int                                  // how often it was asked for
	claims []gameid.Claim                       // that were written
}

func newRegistry() *registry { return &registry{Memory: gameidtest.NewMemory()} }

// with changes r, also while nodes use it.
func (r *registry) with(change func(r *registry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

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
	r.with(func(r *registry) { r.before, r.after = before, after })
}

func (r *registry) faults() (delay time.Duration, before, after error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.delay, r.before, r.after
}

func (r *registry) Floor(ctx context.Context, _ gameid.ServerID) (int64, error) {
	r.floors++
	if r.floor == nil {
		return 0, nil
	}
	return r.floor(ctx)
}

func floorOf(ms int64) func(context.Context) (int64, error) {
	return func(context.Context) (int64, error) { return ms, nil }
}

func (r *registry) Load(ctx context.Context, s gameid.ServerID) (gameid.Record, error) {
	delay, before, _ := r.faults()
	if before != nil {
		return gameid.Record{}, before
	}
	if err := sleep(ctx, delay); err != nil {
		return gameid.Record{}, err
	}
	return r.Memory.Load(ctx, s)
}

func (r *registry) CompareAndSet(ctx context.Context, s gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	delay, before, after := r.faults()
	if before != nil {
		return false, before
	}
	if err := sleep(ctx, delay); err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unset != nil {
		return false, r.unset
	}
	ok, err := r.Memory.CompareAndSet(ctx, s, row, c)
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
	_, before, after := r.faults()
	r.spoil(errors.New("crashed"), nil)
	n.Close()
	r.spoil(before, after)
	rec, err := r.Memory.Load(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	rec.LeaseUntil = time.Time{}
	r.Set(server, rec)
}
