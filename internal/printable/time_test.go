package printable

import (
	"testing"
	"time"
)

func TestTime(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for want, at := range map[string]time.Time{
		"2026-11-21T03:09:08.413Z": time.Date(2026, 11, 21, 5, 9, 8, 413_999_999, east),
		"":                         {},
		"2026-01-01T00:00:00.000Z": time.Date(2026, 1, 1, 2, 0, 0, 0, east),
	} {
		if got := Time(at); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
