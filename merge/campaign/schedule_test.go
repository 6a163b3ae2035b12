package campaign

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/agenda"
	"mergesafe/merge/declare"
	"mergesafe/merge/progress"
	"mergesafe/merge/transfer"
)

func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 5, 0, 0, 0, time.UTC)
	window := &agenda.Window{From: 2 * time.Hour, To: 6 * time.Hour, Zone: time.UTC}
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
		{"tried again later", limits{Parallel: 1, PerServer: 1}, []*job{later}, nil, false, -1, "until 2026-05-01T05:01:00Z, to try again what stopped"},
	} {
		if at, why, closed := c.l.next(c.waiting, c.running, c.paused, now); at != c.want || why != c.why || closed != strings.HasSuffix(why, " opens") {
			t.Errorf("%s: got %d %q, want %d %q", c.name, at, why, c.want, c.why)
		}
	}
	if why := (limits{Window: window}).tooLong(task("a", 5*time.Hour)); !strings.Contains(why, "predicted to take up to 5h0m0s, and the window 02:00-06:00 is 4h0m0s long") {
		t.Errorf("got %q", why)
	}
}

// Predictions are wide at first, narrow with what was measured, and by a rehearsal.
func TestPredict(t *testing.T) {
	t.Parallel()
	merges := []progress.MergeStatus{{Worlds: []string{"a"}, Plan: "1"}, {Worlds: []string{"b"}, Plan: "2"}, {Worlds: []string{"c"}, Plan: "3"}}
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

// fakeRanges is a fleet registry without a range.
type fakeRanges struct {
	mu       sync.Mutex
	reserved []string
}

func (f *fakeRanges) Given(context.Context) ([]declare.FleetRange, string, error) {
	return nil, "the fleet", nil
}

func (f *fakeRanges) Reserve(_ context.Context, plan *transfer.Plan) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reserved = append(f.reserved, plan.Worlds[0].Name)
	return nil
}

// No two plans of a campaign give the same keys, also if only some of them are made anew.
func TestRangesOfOneCampaign(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for i := range 6 {
		db, err := sqldb.Dial(t.Context(), p.server(fmt.Sprint("w", i+1)), sqldb.ReadWrite)
		must(t, err)
		for _, statement := range []string{
			"CREATE TABLE heroes (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL)",
			fmt.Sprintf("INSERT INTO heroes (name) VALUES ('a%d'), ('b%[1]d')", i),
		} {
			_, err := db.Exec(t.Context(), statement)
			must(t, err)
		}
		must(t, db.Close())
	}
	b := p.book("parallel = 4\nallow = ['server-conflict', 'world-cloned', 'world-merged']", "w1 w2", "w3 w4", "w5 w6")
	o, f := p.options(), new(fakeRanges)
	o.Ranges = f
	o.Plan.Check.Allow, o.Plan.Check.Rekey = b.campaign.Allow, &declare.Rekey{Auto: true}
	check := func() {
		t.Helper()
		planned(t, b, o)
		var given []declare.FleetRange
		for _, m := range b.campaign.Merges {
			plan, err := b.readPlan(m.Name())
			must(t, err)
			gives := plan.Rekey.Gives()
			if len(gives) == 0 || plan.Fleet != "the fleet" {
				t.Fatalf("the plan of %s gives nothing, or not of the fleet %q", m.Name(), plan.Fleet)
			}
			for _, g := range gives {
				if at := slices.IndexFunc(given, func(other declare.FleetRange) bool { return other.World != g.World && other.Range.Meets(g.Range) }); at >= 0 {
					t.Errorf("%+v and %+v", given[at], g)
				}
			}
			given = append(given, gives...)
		}
	}
	check()
	p.exec("w1", "INSERT INTO heroes (name) VALUES ('c')")
	check() // only the first is made anew
	without := o
	without.Ranges = nil
	if _, err := Apply(t.Context(), b, without); err == nil || !strings.Contains(err.Error(), "made with a fleet registry") {
		t.Errorf("without the registry: %v", err)
	}
	planned(t, b, o)
	must(t, second(Apply(t.Context(), b, o)))
	slices.Sort(f.reserved)
	if got := phases(t, b); got != "w1 verified, w3 verified, w5 verified" || strings.Join(f.reserved, " ") != "w1 w3 w5" {
		t.Errorf("got %s, reserved %s", got, f.reserved)
	}
}
