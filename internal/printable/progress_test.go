package printable

import (
	"testing"
	"time"
)

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 9999: "9999", 12_345: "12 k", 9_999_000: "9999 k", 12_345_678: "12.3 M"} {
		if got := Short(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}

func TestHowFar(t *testing.T) {
	for want, c := range map[string]struct {
		done, total int64
		left        time.Duration
	}{
		"45 %  9000 of 20 k rows  1500/s  7s left":           {9000, 20_000, 7 * time.Second},
		"45 %  9000 of 20 k rows  1500/s  time left unknown": {9000, 20_000, 0},
		"100 %  20 k of 20 k rows  1500/s  1s left":          {20_000, 20_000, time.Millisecond},
		"100 %  20 k of 20 k rows  1500/s":                   {20_000, 20_000, 0},
	} {
		if got := HowFar(c.done, c.total, 1500, c.left); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
