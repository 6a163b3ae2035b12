//go:build linux

package torture

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"mergesafe/internal/fleet"
	"mergesafe/number"
	storefleet "mergesafe/store/fleet"
	"mergesafe/store/numbers"
)

// Worlds on all three nodes take numbers of one sequence of a fleet registry
// that runs on the cluster, in blocks so small that they are always in each
// other's way, while a node is killed and another frozen. No number comes
// twice; who has lost his node is told so, and goes on when it is back.
func TestNumbers(t *testing.T) { onEach(t, sharedNumbers) }

func sharedNumbers(t *testing.T, g *cluster) {
	g.createDatabase("fleet")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	stop := func() {
		cancel()
		wg.Wait()
	}
	t.Cleanup(stop)
	takers := make([]*taker, len(g.nodes))
	for i := range g.nodes {
		fleet, err := fleet.Open(g.dsn(i, "fleet"))
		must(t, err)
		t.Cleanup(func() { fleet.Close() })
		if i == 0 {
			must(t, fleet.Create(t.Context()))
			g.awaitTables("fleet")
		}
		numbers, err := numbers.OpenShared(t.Context(), (*storefleet.Fleet)(fleet), "player", numbers.Options{MinBlock: 1, MaxBlock: 5, Timeout: 5 * time.Second})
		must(t, err)
		t.Cleanup(func() { numbers.Close() })
		takers[i] = &taker{t: t, numbers: numbers}
		wg.Go(func() { takers[i].run(ctx) })
	}
	more := func(i int) { takers[i].await(t, takers[i].count()+200) }
	for i := range takers {
		more(i)
	}
	for _, fault := range []struct {
		what       string
		node       int
		take, back func(*node)
	}{
		{"killed", 2, (*node).kill, func(n *node) { n.start() }},
		{"frozen", 1, (*node).freeze, (*node).thaw},
	} {
		node := g.writer(g.nodes[0], fault.node)
		n := g.nodes[node]
		t.Logf("%s is %s", n.name, fault.what)
		fault.take(n)
		for i := range takers {
			if i != node || g.several {
				more(i)
			}
		}
		if !g.several {
			takers[node].awaitRefusal(t)
		}
		fault.back(n)
		g.awaitAll()
		for i := range takers {
			more(i)
		}
	}
	stop()

	seen := make(map[number.Number]bool)
	for i, taker := range takers {
		for _, got := range taker.taken {
			if seen[got] {
				t.Errorf("%d came twice", got)
			}
			seen[got] = true
		}
		t.Logf("%s: %d numbers, %d refusals, %+v", g.nodes[i].name, len(taker.taken), taker.refusals, taker.numbers.Stats())
	}
}

// taker takes numbers one after another.
type taker struct {
	t       *testing.T
	numbers *numbers.Sequence

	mu       sync.Mutex
	taken    []number.Number
	refusals int
}

func (k *taker) run(ctx context.Context) {
	for ctx.Err() == nil {
		got, err := k.numbers.Next(ctx)
		k.mu.Lock()
		if err == nil {
			k.taken = append(k.taken, got)
		} else if _, ok := errors.AsType[*numbers.Error](err); !ok {
			k.t.Errorf("instead of a number: %v", err)
		} else {
			k.refusals++
		}
		k.mu.Unlock()
		if err != nil {
			time.Sleep(10 * time.Millisecond) // it would only say so again
		}
	}
}

func (k *taker) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.taken)
}

func (k *taker) refused() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refusals
}

// await waits until so many numbers were taken.
func (k *taker) await(t *testing.T, count int) {
	t.Helper()
	for end := time.Now().Add(clusterPatience); k.count() < count; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d numbers, want %d: %+v", k.count(), count, k.numbers.Stats())
		}
	}
}

// awaitRefusal waits until there is no number.
func (k *taker) awaitRefusal(t *testing.T) {
	t.Helper()
	before := k.refused()
	for end := time.Now().Add(clusterPatience); k.refused() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("without its node it goes on: %+v", k.numbers.Stats())
		}
	}
}
