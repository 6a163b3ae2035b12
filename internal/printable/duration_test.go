package printable

import "testing"

func TestSpan(t *testing.T) {
	for want, seconds := range map[string][2]float64{
		"0s":            {},
		"200ms to 1.3s": {0.18, 1.26},
		"10s":           {9.99, 10.4},
		"2m to 2m5s":    {119.7, 125.4},
		"1h to 1h20m":   {3600, 4799},
		"1h to 100h10m": {3599.6, 360_600},
	} {
		if got := Span(seconds); got != want {
			t.Errorf("%v: got %q, want %q", seconds, got, want)
		}
	}
}
