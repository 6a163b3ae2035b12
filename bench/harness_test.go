package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestQuantile(t *testing.T) {
	for _, test := range []struct {
		values  []float64
		q, want float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 1, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{5, 4, 3, 2, 1}, 0, 1},
		{[]float64{0, 10}, 0.25, 2.5},
	} {
		values := slices.Clone(test.values)
		if got := quantile(values, test.q); got != test.want || !slices.Equal(values, test.values) {
			t.Errorf("quantile(%v, %v) = %v, want %v, and left %v", test.values, test.q, got, test.want, values)
		}
	}
}

// scripted is a candidate whose measurements take what the script says, in
// nanoseconds per operation.
func scripted(name string, script ...time.Duration) candidate {
	i := 0
	return candidate{name: name, n: 1000, run: func(n int) error {
		time.Sleep(script[min(i, len(script)-1)] * time.Duration(n))
		i++
		return nil
	}}
}

func TestMeasureComparesNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The machine gets slower and slower: the first value of each script is
		// what the count of allocations sees.
		ref := scripted("ref", 0, 10, 20, 40, 80, 160)
		found, err := measure(t.Context(), pace{rounds: 2}, ref, []candidate{scripted("a", 0, 30, 240), scripted("b", 0, 30, 60)})
		if err != nil {
			t.Fatal(err)
		}
		// ref 10, a 30, ref 20, b 30, ref 40; then in reverse b 60, ref 80, a 240, ref 160.
		for i, want := range [][]float64{{2, 2, 2, 2}, {2, 2}, {1, 1}} {
			if !slices.EqualFunc(found[i].ratio, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
				t.Errorf("%s has ratios %v, want %v", found[i].name, found[i].ratio, want)
			}
		}
	})
}

func TestMeasureStops(t *testing.T) {
	broken := errors.New("broken")
	for _, bad := range []candidate{
		{name: "bad", n: 1, run: func(int) error { return broken }},
		{name: "bad", n: 4, workers: 4, run: func(int) error { return broken }},
		{name: "bad", n: 4, before: func() error { return broken }},
	} {
		if _, err := measure(t.Context(), pace{rounds: 1}, scripted("ref", 1), []candidate{bad}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "bad") {
			t.Errorf("got %v, want the error of the candidate with its name", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := measure(ctx, pace{rounds: 1}, scripted("ref", 1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: got %v", err)
	}
}

func TestCalibrate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			each       time.Duration // of an operation
			most, want int
		}{{each: 10, want: 100_000}, {each: 10, most: 5000, want: 5000}, {each: 5e6, want: 1}} {
			c := scripted("", test.each)
			c.n, c.most = 0, test.most
			if _, err := c.calibrate(t.Context(), time.Millisecond); err != nil || c.n != test.want {
				t.Errorf("%+v: n is %d, %v", test, c.n, err)
			}
		}
	})
}

func TestCalibrateCountsAllocations(t *testing.T) {
	var keep *[64]byte
	c := candidate{n: 100_000, run: func(n int) error {
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
