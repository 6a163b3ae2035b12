package main

import (
	"testing"
	"time"

	"mergesafe/gameid"
)

// The end of the layout is 557 years away, more than a time.Duration holds.
func TestSpan(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for want, to := range map[string]time.Time{
		"1m30s":                   now.Add(90 * time.Second),
		"2s":                      now.Add(1100 * time.Millisecond),
		"47h0m0s":                 now.Add(47 * time.Hour),
		"72h (3 days)":            now.Add(49 * time.Hour),
		"4877976h (203,249 days)": gameid.Last(),
	} {
		if got := span(now, to); got != want {
			t.Errorf("from %s to %s: %s, want %s", now, to, got, want)
		}
	}
}
