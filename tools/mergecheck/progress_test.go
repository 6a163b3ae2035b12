package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"mergesafe/merge"
)

func TestLine(t *testing.T) {
	start := time.Unix(0, 0)
	l := &line{started: start}
	if got := l.text(start); got != "waiting" {
		t.Errorf("before anything was read: %q", got)
	}
	for _, tt := range []struct {
		now  merge.Progress
		want string
	}{
		{merge.Progress{Code: "key-collision", Table: "items", Rows: 4096}, "items, key-collision: 4096 rows, 2048/s"},
		{merge.Progress{Code: "key-collision", Table: "items", Rows: 30_000_000}, "items, key-collision: 30.0 M rows, 15.0 M/s"},
		{merge.Progress{Code: "key-collision", Table: "players", Rows: 10}, "players, key-collision: 30.0 M rows, 15.0 M/s"},
		{merge.Progress{Code: "unique-collision", Table: "players", Rows: 1_000_000}, "players, unique-collision: 31.0 M rows, 15.5 M/s"},
	} {
		l.report(tt.now)
		if got := l.text(start.Add(2 * time.Second)); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.now, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 9999: "9999", 12_345: "12 k", 9_999_000: "9999 k", 12_345_678: "12.3 M"} {
		if got := short(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}

// There is a line for every database, and none is left at the end.
func TestProgress(t *testing.T) {
	var screen bytes.Buffer
	refresh := make(chan any)
	p := startProgress(&screen, []place{{name: "s1"}, {name: "s2"}}, mpb.WithManualRefresh(refresh))
	p.report(merge.Progress{Code: "key-collision", Source: "s2", Table: "items", Rows: 123})
	p.report(merge.Progress{Source: "unknown"})
	refresh <- time.Now()
	p.stop()
	got := screen.String()
	for _, want := range []string{"s1", "waiting", "s2", "items, key-collision: 123 rows"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen: %q", want, got)
		}
	}
}

// Where stderr is no terminal, nothing is shown.
func TestNoProgress(t *testing.T) {
	var stderr bytes.Buffer
	p := newProgress(&stderr, []place{{name: "s1"}})
	p.report(merge.Progress{Source: "s1", Table: "items", Rows: 1})
	p.stop()
	if stderr.Len() > 0 {
		t.Errorf("got %q", &stderr)
	}
}
