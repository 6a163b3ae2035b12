package main

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0.5, 7},
		{[]float64{7}, 1, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{5, 4, 3, 2, 1}, 0.25, 2},
		{[]float64{5, 4, 3, 2, 1}, 0, 1},
		{[]float64{5, 4, 3, 2, 1}, 1, 5},
		{[]float64{0, 10}, 0.25, 2.5},
	} {
		values := append([]float64(nil), test.values...)
		if got := quantile(values, test.q); got != test.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", test.values, test.q, got, test.want)
		}
		for i := range values {
			if values[i] != test.values[i] {
				t.Fatalf("quantile changed its argument to %v", values)
			}
		}
	}
}

// scripted is a candidate whose measurements take what the script says, in
// nanoseconds per operation.
func scripted(name string, script ...float64) candidate {
	i := 0
	return candidate{name: name, n: 1000, elapsed: func(n int) (time.Duration, error) {
		ns := script[min(i, len(script)-1)]
		i++
		return time.Duration(ns * float64(n)), nil
	}}
}

func TestMeasureComparesNeighbours(t *testing.T) {
	// The machine gets slower and slower: the first value of each script is
	// what the count of allocations sees.
	ref := scripted("ref", 0, 10, 20, 40, 80, 160)
	a := scripted("a", 0, 30, 240)
	b := scripted("b", 0, 30, 60)
	found, err := measure(t.Context(), pace{rounds: 2}, ref, []candidate{a, b})
	if err != nil {
		t.Fatal(err)
	}
	// ref 10, a 30, ref 20, b 30, ref 40; then in reverse b 60, ref 80, a 240, ref 160.
	want := map[string][]float64{"a": {2, 2}, "b": {1, 1}, "ref": {2, 2, 2, 2}}
	for name, ratios := range want {
		got := found[name].ratio
		if len(got) != len(ratios) {
			t.Fatalf("%s has ratios %v, want %v", name, got, ratios)
		}
		for i := range got {
			if math.Abs(got[i]-ratios[i]) > 1e-9 {
				t.Errorf("%s has ratios %v, want %v", name, got, ratios)
			}
		}
	}
}

func TestMeasureStops(t *testing.T) {
	broken := errors.New("broken")
	bad := candidate{name: "bad", n: 1, run: func(int) error { return broken }}
	if _, err := measure(t.Context(), pace{rounds: 1}, scripted("ref", 1), []candidate{bad}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("got %v, want the error of the candidate with its name", err)
	}
	bad = candidate{name: "bad", n: 4, workers: 4, run: func(int) error { return broken }}
	if _, err := measure(t.Context(), pace{rounds: 1}, scripted("ref", 1), []candidate{bad}); !errors.Is(err, broken) {
		t.Errorf("with several workers: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(ctx, pace{rounds: 1}, scripted("ref", 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: got %v", err)
	}
}

func TestCalibrate(t *testing.T) {
	for _, test := range []struct {
		ns    float64 // per operation
		most  int
		slice time.Duration
		want  int
	}{
		{ns: 10, slice: time.Millisecond, want: 100_000},
		{ns: 10, slice: time.Millisecond, most: 5000, want: 5000},
		{ns: 5e6, slice: time.Millisecond, want: 1},
	} {
		c := candidate{most: test.most, elapsed: func(n int) (time.Duration, error) {
			return time.Duration(test.ns * float64(n)), nil
		}}
		if _, err := c.calibrate(t.Context(), test.slice); err != nil || c.n != test.want {
			t.Errorf("%+v: n is %d, %v", test, c.n, err)
		}
	}
}

func TestCalibrateCountsAllocations(t *testing.T) {
	var keep *[64]byte
	c := candidate{n: 1000, run: func(n int) error {
		for range n {
			keep = new([64]byte)
			keep = new([64]byte)
		}
		return nil
	}}
	got, err := c.calibrate(t.Context(), 0)
	if err != nil || allocs(got) != "2" {
		t.Errorf("got %v allocations per operation, %v, want 2", got, err)
	}
	_ = keep
}

func TestWorkersShareTheWork(t *testing.T) {
	var done, running atomic.Int64
	c := candidate{n: 10, workers: 3, run: func(n int) error {
		running.Add(1)
		done.Add(int64(n))
		return nil
	}}
	if _, err := c.time(); err != nil {
		t.Fatal(err)
	}
	if c.n != 9 || done.Load() != 9 || running.Load() != 3 {
		t.Errorf("%d workers did %d operations, n is %d; want 3, 9 and 9", running.Load(), done.Load(), c.n)
	}
}
