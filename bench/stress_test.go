package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"mergesafe/gameid"
)

func TestInspect(t *testing.T) {
	k := func(n uint64) key { return keyOfInt(n) }
	for _, test := range []struct {
		name                  string
		keys                  []key
		unordered, duplicates int
	}{
		{"fine", []key{k(1), k(3), k(2), k(4)}, 0, 0},
		{"out of order in one", []key{k(3), k(1), k(2), k(4)}, 1, 0},
		{"twice in one goroutine", []key{k(1), k(1), k(2), k(4)}, 1, 1},
		{"twice in two goroutines", []key{k(1), k(3), k(3), k(4)}, 0, 1},
		{"three times", []key{k(3), k(3), k(3), k(4)}, 1, 2},
	} {
		if unordered, duplicates := inspect(test.keys, [][]key{test.keys[:2], test.keys[2:]}); unordered != test.unordered || duplicates != test.duplicates {
			t.Errorf("%s: %d out of order and %d duplicates, want %d and %d", test.name, unordered, duplicates, test.unordered, test.duplicates)
		}
	}
}

func TestKeyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() []byte {
		b := make([]byte, 20)
		for i := range b {
			b[i] = byte(r.IntN(2)) // alike for long
		}
		return b
	}
	for range 10_000 {
		a, b := random(), random()
		copy(b, a[:r.IntN(21)])
		if got, want := keyOf(a).compare(keyOf(b)), bytes.Compare(a, b); got != want {
			t.Fatalf("%x to %x is %d, want %d", a, b, got, want)
		}
	}
}

func TestStressOurs(t *testing.T) {
	var next atomic.Uint64
	good := func(_ int, dst []key) error {
		for i := range dst {
			dst[i] = keyOfInt(next.Add(1))
		}
		return nil
	}
	repeats := func(_ int, dst []key) error {
		for i := range dst {
			dst[i] = keyOfInt(next.Add(1) / 2)
		}
		return nil
	}
	falls := func(_ int, dst []key) error {
		for i := range dst {
			dst[i] = keyOfInt(-next.Add(1))
		}
		return nil
	}
	for _, test := range []struct {
		name string
		mint mintings
		ok   bool
	}{{"good", good, true}, {"repeats", repeats, false}, {"falls", falls, false}} {
		g := generator{peer{name: test.name}, func(*gameid.Node) mintings { return test.mint }}
		r, err := g.stress(t.Context(), 2, make([]key, 1000))
		var w *wrong
		if errors.As(err, &w) == test.ok || r.holds != verdict(test.ok) {
			t.Errorf("%s: %+v, %v", test.name, r, err)
		}
	}
	failure := errors.New("no more")
	fails := generator{ours: func(*gameid.Node) mintings { return func(int, []key) error { return failure } }}
	if _, err := fails.stress(t.Context(), 1, make([]key, 1000)); !errors.Is(err, failure) {
		t.Errorf("got %v, want the error of the generator", err)
	}
}

// TestMintings makes sure that the stress of ours sees every ID, and sees it
// as it is.
func TestMintings(t *testing.T) {
	for name, mint := range map[string]func(*gameid.Node) mintings{"Next": mintNext, "Fill": mintFill, "mixed": mintMixed} {
		node, err := openNode(t.Context(), gameid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const n = 64*1000 + 7
		keys := make([]key, n)
		g := generator{peer{name: name}, func(*gameid.Node) mintings { return mint(node) }}
		if _, err := g.stress(t.Context(), 1, keys); err != nil {
			t.Error(err)
		}
		if keys[0] == (key{}) {
			t.Errorf("%s left a key out", name)
		}
		var minted uint64
		for _, m := range node.Stats().Minted {
			minted += m
		}
		if minted != n {
			t.Errorf("%s minted %d IDs, want %d", name, minted, n)
		}
		node.Close()
	}
}

func TestPeers(t *testing.T) {
	libraries, err := peers()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range libraries {
		if p.before != nil {
			if err := p.before(); err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
		}
		if err := p.run(100); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		a, err := p.next()
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		b, err := p.next()
		if err != nil || a == b || a == (key{}) {
			t.Errorf("%s: got %v, then %v, %v", p.name, a, b, err)
		}
		if p.ordered && a.compare(b) >= 0 {
			t.Errorf("%s: %v is not greater than %v", p.name, b, a)
		}
	}
}
