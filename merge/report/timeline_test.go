package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/verdict"
)

func TestTimeline(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	server := func(n int, own bool, oldest, newest, mark time.Time) verdict.ServerSummary {
		return verdict.ServerSummary{Server: n, Own: own, Listed: true, IDs: 1, Oldest: oldest, Newest: newest, Mark: mark}
	}
	r := &verdict.Report{Started: day(11), Worlds: []verdict.Summary{
		{Name: "s1", Servers: []verdict.ServerSummary{server(2, true, day(1), day(6), day(6)), {Server: 3}}},
		{Name: "s2", Servers: []verdict.ServerSummary{server(1, true, day(6), day(11), day(400)), server(7, false, day(2), day(300), day(1))}},
	}}
	tl := newTimeline(r)
	var got []string
	for _, b := range tl.Bars {
		got = append(got, fmt.Sprint(b.Label, "|", b.Class, "|", b.From, "|", b.To, "|", b.Late, "|", b.Mark))
	}
	// From the 1st to the 12th: a day is 98 % / 11.
	want := []string{
		"server 1 in s2: 1 ID|own|45.55%|90.09%|false|",
		"server 2 in s1: 1 ID|own|1.00%|45.55%|false|45.55%",
		"server 7 in s2: 1 ID, merged in, until 2026-10-27T00:00:00.000Z|merged|9.91%|99.00%|true|1.00%",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tl.Check != "90.09%" {
		t.Errorf("the check is at %s", tl.Check)
	}
	if newTimeline(&verdict.Report{}) != nil {
		t.Error("a timeline without IDs")
	}
	// One moment only, and more servers than fit.
	for n := range 100 {
		r.Worlds[0].Servers = append(r.Worlds[0].Servers, server(100+n, true, day(3), day(3), day(3)))
	}
	if tl := newTimeline(r); len(tl.Bars) != maxBars || tl.Omitted != 43 {
		t.Errorf("%d bars, %d omitted", len(tl.Bars), tl.Omitted)
	}
}

// The axis has days, or times in the form of all times.
func TestTicks(t *testing.T) {
	first := time.Date(2026, 11, 21, 3, 9, 8, 413_000_000, time.UTC)
	at := func(at time.Time) string { return at.Sub(first).String() }
	for span, want := range map[time.Duration][]tick{
		0: {{"0s", "start", "2026-11-21T03:09:08.413Z", false}, {"0s", "middle", "2026-11-21T03:09:08.413Z", true}, {"0s", "end", "2026-11-21T03:09:08.413Z", false}},
		47 * time.Hour: {{"0s", "start", "2026-11-21T03:09:08.413Z", false}, {"23h30m0s", "middle", "2026-11-22T02:39:08.413Z", true},
			{"47h0m0s", "end", "2026-11-23T02:09:08.413Z", false}},
		48 * time.Hour: {{"0s", "start", "2026-11-21", false}, {"24h0m0s", "middle", "2026-11-22", false}, {"48h0m0s", "end", "2026-11-23", false}},
	} {
		if diff := cmp.Diff(want, ticks(first, first.Add(span), at)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", span, diff)
		}
	}
}
