package main

import (
	"strings"
	"testing"
	"time"

	"mergesafe/merge/rules"
	"mergesafe/tools/internal/cli"
)

func TestMeter(t *testing.T) {
	start := time.Unix(0, 0)
	m := new(meter)
	if got := m.text(start); got != "waiting" {
		t.Errorf("before anything was read: %q", got)
	}
	m.load = 57
	if got, want := m.text(start), "resting: 57 threads are running"; got != want {
		t.Errorf("before anything was read: %q, want %q", got, want)
	}
	for _, tt := range []struct {
		after time.Duration
		now   rules.Progress
		want  string
	}{
		{0, rules.Progress{Code: "key-collision", Table: "items", WorldRows: 4096, WorldTotal: 60e6}, "0 %  4096 of 60.0 M rows  0/s  time left unknown  items key-collision"},
		{2 * time.Second, rules.Progress{Code: "key-collision", Table: "items", WorldRows: 30e6, WorldTotal: 60e6}, "50 %  30.0 M of 60.0 M rows  15.0 M/s  2s left  items key-collision"},
		{4 * time.Second, rules.Progress{Code: "unique-collision", Table: "a\x1b[2J", WorldRows: 31e6, WorldTotal: 60e6}, `51 %  31.0 M of 60.0 M rows  7749 k/s  4s left  a\x1b[2J unique-collision`},
		{time.Hour, rules.Progress{Code: "unique-collision", Table: "players", WorldRows: 36e6, WorldTotal: 3600e6}, "1 %  36.0 M of 3600.0 M rows  1390/s  time left unknown  players unique-collision"},
		{time.Hour, rules.Progress{Code: "unique-collision", Table: "players", WorldRows: 0, WorldTotal: 10}, "0 %  0 of 10 rows  1390/s  1s left  players unique-collision"},
		{time.Hour, rules.Progress{Code: "unique-collision", Table: "players", WorldRows: 0, WorldTotal: 0}, "0 rows are read  players unique-collision"},
	} {
		now := start.Add(tt.after)
		m.report(tt.now, now)
		if got := m.text(now); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.now, got, tt.want)
		}
	}
	m.load = 41
	if got, want := m.text(start.Add(time.Hour)), "0 rows are read  resting: 41 threads are running"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.report(rules.Progress{Code: "key-collision", Table: "items"}, start)
	if m.load != 0 {
		t.Error("still resting although rows are read")
	}
	p := &display{names: []string{"s1"}, meters: map[string]*meter{"s1": m}}
	p.display = cli.NewDisplay(nil, false, p.names, p.text, func() {})
	defer p.display.Stop()
	p.judges("s1", "level < 30", 65*time.Second)
	if _, _, line := p.line(start); p.text(0) != "the database server of s1 has been evaluating for 1m5s: level < 30" || !strings.Contains(line, p.text(0)) {
		t.Errorf("got %q and %q", p.text(0), line)
	}
	if m.report(rules.Progress{Code: "key-collision", Table: "items"}, start); m.judging != "" {
		t.Error("still judging although rows are read")
	}
}
