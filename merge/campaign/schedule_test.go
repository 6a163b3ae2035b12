package campaign

import (
	"strings"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 5, 0, 0, 0, time.UTC)
	window := &Window{From: 2 * time.Hour, To: 6 * time.Hour, Zone: time.UTC}
	task := func(server string, atMost time.Duration) *job { return &job{servers: []string{server}, atMost: atMost} }
	later := task("a", time.Minute)
	later.notYet = now.Add(time.Minute)
	for _, c := range []struct {
		name             string
		l                limits
		waiting, running []*job
		paused           bool
		want             int
		why              string
	}{
		{"the first", limits{Parallel: 2, PerServer: 2}, []*job{task("a", 0), task("a", 0)}, nil, false, 0, ""},
		{"all run that may", limits{Parallel: 1, PerServer: 1}, []*job{task("a", 0)}, []*job{task("b", 0)}, false, -1, ""},
		{"its server is busy", limits{Parallel: 4, PerServer: 1}, []*job{task("a", 0), task("b", 0)}, []*job{task("a", 0)}, false, 1, ""},
		{"all servers are busy", limits{Parallel: 4, PerServer: 1}, []*job{task("a", 0)}, []*job{task("a", 0)}, false, -1, ""},
		{"paused", limits{Parallel: 1, PerServer: 1}, []*job{task("a", 0)}, nil, true, -1, "paused by the operator"},
		{"it fits", limits{Parallel: 1, PerServer: 1, Window: window}, []*job{task("a", time.Hour)}, nil, false, 0, ""},
		{"a shorter one fits", limits{Parallel: 1, PerServer: 1, Window: window}, []*job{task("a", 61*time.Minute), task("a", time.Minute)}, nil, false, 1, ""},
		{"none fits", limits{Parallel: 1, PerServer: 1, Window: window}, []*job{task("a", 61*time.Minute)}, nil, false, -1, "until 2026-05-02T02:00:00Z (02:00), when the window 02:00-06:00 UTC opens"},
		{"tried again later", limits{Parallel: 1, PerServer: 1}, []*job{later}, nil, false, -1, "until 2026-05-01T05:01:00Z, then retries what stopped"},
	} {
		if at, why, closed := c.l.next(c.waiting, c.running, c.paused, now); at != c.want || why != c.why || closed != strings.HasSuffix(why, " opens") {
			t.Errorf("%s: got %d %q, want %d %q", c.name, at, why, c.want, c.why)
		}
	}
	if why := (limits{Window: window}).tooLong(task("a", 5*time.Hour)); !strings.Contains(why, "predicted to take up to 5h0m0s, but the window 02:00-06:00 is 4h0m0s long") {
		t.Errorf("got %q", why)
	}
}

// Predictions are wide at first, narrow with what was measured, and by a rehearsal.
func TestPredict(t *testing.T) {
	t.Parallel()
	merges := []MergeStatus{{Worlds: []string{"a"}, Plan: "1"}, {Worlds: []string{"b"}, Plan: "2"}, {Worlds: []string{"c"}, Plan: "3"}}
	known := map[string]*record{}
	for i := range merges {
		known[merges[i].Name()] = &record{MergeStatus: merges[i], Weight: 10}
	}
	known["c"].Tried, known["c"].TriedWeight = 7, 5
	predict(merges, known)
	if got := merges[0].Predicted; got != [2]float64{2.5, 40} {
		t.Errorf("got %v", got)
	}
	if got := merges[2].Predicted; got != [2]float64{14, 14} {
		t.Errorf("tried: got %v", got)
	}
	known["b"].Measured = 20
	predict(merges, known)
	if got := merges[0].Predicted; got != [2]float64{10, 40} {
		t.Errorf("after one was measured: got %v", got)
	}
	for _, more := range []string{"x", "y"} {
		known[more] = &record{Weight: 1, Measured: 2.5}
	}
	predict(merges, known)
	if got := merges[0].Predicted; got != [2]float64{16, 31.25} {
		t.Errorf("after three were measured: got %v", got)
	}
}
