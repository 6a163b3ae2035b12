package databases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestThrottle(t *testing.T) {
	loads := func(answers ...int) (func(context.Context) (int, error), *int) {
		asked := new(int)
		return func(context.Context) (int, error) {
			*asked++
			return answers[min(*asked, len(answers))-1], nil
		}, asked
	}
	for _, tt := range []struct {
		name    string
		t       Throttle
		loads   []int
		batches int
		took    time.Duration
		asked   int
		rested  []int
	}{
		{"nothing asked for", Throttle{}, []int{1000}, 100, 0, 0, nil},
		{"a pause only", Throttle{Pause: 20 * time.Millisecond}, []int{1000}, 100, 2 * time.Second, 0, nil},
		{"little load, asked for once", Throttle{MaxLoad: 10}, []int{10}, 100, 0, 1, nil},
		{"much load for two looks", Throttle{MaxLoad: 10}, []int{11, 57, 10}, 100, 2 * time.Second, 3, []int{11, 57}},
		{"asked for every second", Throttle{MaxLoad: 10, Pause: 100 * time.Millisecond}, []int{1}, 100, 10 * time.Second, 10, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			load, asked := loads(tt.loads...)
			var rested []int
			pause := tt.t.Pauser(load, func(n int) { rested = append(rested, n) })
			start := time.Now()
			for range tt.batches {
				if err := pause(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(start); took != tt.took || *asked != tt.asked || !slices.Equal(rested, tt.rested) {
				t.Errorf("%s: took %s, asked %d times, rested for %v; want %s, %d, %v", tt.name, took, *asked, rested, tt.took, tt.asked, tt.rested)
			}
		})
	}
}

// An interrupt ends a rest, and a load that nobody knows ends the check.
func TestThrottleErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		busy := func(context.Context) (int, error) { return 1000, nil }
		if err := (Throttle{MaxLoad: 1}).Pauser(busy, func(int) {})(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := (Throttle{Pause: time.Second}).Pauser(busy, func(int) {})(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	gone := errors.New("gone away")
	broken := func(context.Context) (int, error) { return 0, gone }
	if err := (Throttle{MaxLoad: 1}).Pauser(broken, func(int) {})(t.Context()); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// A batch begins when the replica has caught up; while it does not replicate, nobody knows how far it lags.
func TestFollower(t *testing.T) {
	stands := errors.New("replication does not run")
	synctest.Test(t, func(t *testing.T) {
		lags := []time.Duration{9 * time.Second, -1, 6 * time.Second, 5 * time.Second}
		var rested []string
		wait := Throttle{MaxLag: 5 * time.Second}.Follower(func(context.Context) (time.Duration, error) {
			lag := lags[0]
			lags = lags[1:]
			if lag < 0 {
				return 0, stands
			}
			return lag, nil
		}, func(lag time.Duration, err error) { rested = append(rested, fmt.Sprint(lag, err)) })
		start := time.Now()
		for range 2 { // the second one is within a second of the last look
			if err := wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"9s <nil>", "0s replication does not run", "6s <nil>"}
		if took := time.Since(start); took != 3*time.Second || !slices.Equal(rested, want) || len(lags) != 0 {
			t.Errorf("took %s, rested for %q, %v left", took, rested, lags)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		away := func(context.Context) (time.Duration, error) { return 0, stands }
		if err := (Throttle{MaxLag: 1}).Follower(away, func(time.Duration, error) {})(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}
