package campaign

import (
	"testing"
	"time"
)

// A window may go over midnight; a day of 23 or 25 hours changes nothing on the wall.
func TestWindowNext(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	hour := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	for _, c := range []struct {
		from, to float64
		zone     *time.Location
		now      string
		want     string
	}{
		{2, 6, time.UTC, "2026-05-01T01:59:59Z", "2026-05-01T02:00:00Z 2026-05-01T06:00:00Z"},
		{2, 6, time.UTC, "2026-05-01T02:00:00Z", "2026-05-01T02:00:00Z 2026-05-01T06:00:00Z"},
		{2, 6, time.UTC, "2026-05-01T06:00:00Z", "2026-05-02T02:00:00Z 2026-05-02T06:00:00Z"},
		{22.5, 6, time.UTC, "2026-05-01T03:00:00Z", "2026-04-30T22:30:00Z 2026-05-01T06:00:00Z"},
		{22.5, 6, time.UTC, "2026-05-01T23:00:00Z", "2026-05-01T22:30:00Z 2026-05-02T06:00:00Z"},
		{0, 24, time.UTC, "2026-05-01T23:00:00Z", "2026-05-01T00:00:00Z 2026-05-02T00:00:00Z"},
		{2, 6, berlin, "2026-05-01T03:00:00Z", "2026-05-01T00:00:00Z 2026-05-01T04:00:00Z"},
		{1, 6, berlin, "2026-03-28T23:30:00Z", "2026-03-29T00:00:00Z 2026-03-29T04:00:00Z"}, // the hour from 2 to 3 is not there
		{1, 6, berlin, "2026-10-25T00:30:00Z", "2026-10-24T23:00:00Z 2026-10-25T05:00:00Z"}, // it is there twice
		{2, 3, berlin, "2026-03-28T23:30:00Z", "2026-03-30T00:00:00Z 2026-03-30T01:00:00Z"}, // not on that day
		{2.5, 3, berlin, "2026-03-29T01:15:00Z", "2026-03-30T00:30:00Z 2026-03-30T01:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		opens, closes := (&Window{hour(c.from), hour(c.to), c.zone}).Next(now)
		if got := opens.UTC().Format(time.RFC3339) + " " + closes.UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%g-%g %s at %s: got %s, want %s", c.from, c.to, c.zone, c.now, got, c.want)
		}
	}
}
