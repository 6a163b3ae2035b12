//go:build unix && !race

package campaign

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"

	"mergesafe/merge"
)

// All problems of all merges are told at once, and nothing is written.
func TestReady(t *testing.T) {
	t.Parallel()
	onEach(t, []int{3, 3, 3, 3}, func(t *testing.T, p *place) {
		all := []*job{p.planFor("w1", "w2"), p.planFor("w3", "w4")}
		c := &Campaign{Name: "autumn", Parallel: 2, Backup: ByHand}
		notes, err := lookReady(t.Context(), c, all, time.Now, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := "backed up by hand, according to the campaign file: w1, w2, w3, w4"; len(notes) == 0 || notes[0] != want {
			t.Errorf("got %q, want %q", notes, want)
		}

		stop, failure := p.starts("w2", 2)
		if failure != nil {
			t.Fatal(failure)
		}
		defer stop()
		p.exec("w3", "DELETE FROM items")
		p.exec("w3", "DELETE FROM players")
		c.Backup = ""
		log := filepath.Join(t.TempDir(), "asked")
		c.Hooks = []Hook{
			{On: []string{AskBackedUp}, Run: []string{"/bin/sh", "-c", `echo "$FLEET_WORLD" >> '` + log + `'; [ "$FLEET_WORLD" != w4 ] || { echo "the tape is full"; exit 7; }`}},
			{On: []string{AskRoom}, Run: []string{"/bin/sh", "-c", `grep -q '"merge":"w1".*"bytes":[1-9]'`}},
		}
		_, err = lookReady(t.Context(), c, all, time.Now, false)
		failed := new(NotReadyError)
		if !errors.As(err, &failed) {
			t.Fatal(err)
		}
		text := failed.Error()
		for _, want := range []string{
			"world w2 (merge w1): server 2 runs: ",
			"stop it first",
			"world w3: none of its tables has a row any more: restore it, or correct its DSN",
			"world w4 (merge w3): it has no backup: the hook /bin/sh: ",
			"it ended with exit code 7; it says: the tape is full",
			"world w3: there is not enough disk space for the new database: the hook",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in:\n%s", want, text)
			}
		}
		if n := strings.Count(text, "server 2 runs"); n != 1 {
			t.Errorf("it is told %d times that server 2 runs:\n%s", n, text)
		}
		// A world is not backed up while a world of its merge runs.
		if b, err := os.ReadFile(log); err != nil || string(b) != "w3\nw4\n" {
			t.Errorf("asked for %q, %v", b, err)
		}
	})
}

// A world without a registry is not taken for stopped, and a backup is not taken for granted.
func TestReadyUnknown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, world := range []string{"w1", "w2"} {
		p.exec(world, "CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY)")
		p.exec(world, "INSERT INTO things VALUES ('"+world+"')")
	}
	all := []*job{p.planFor("w1", "w2")}
	c := &Campaign{Name: "autumn", Parallel: 1}
	_, err := lookReady(t.Context(), c, all, time.Now, false)
	failed := new(NotReadyError)
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	want := []Problem{
		{Merge: "w1", World: "w1", Reason: `it has no registry, so it is unknown whether its game is stopped: name a hook for "stopped", or stop it and write stopped = "by hand" under [campaign]`},
		{Merge: "w1", World: "w1", Reason: `it is unknown whether there is a backup: name a hook for "backed-up", or make a backup and write backup = "by hand" under [campaign]`},
		{Merge: "w1", World: "w2", Reason: `it has no registry, so it is unknown whether its game is stopped: name a hook for "stopped", or stop it and write stopped = "by hand" under [campaign]`},
		{Merge: "w1", World: "w2", Reason: `it is unknown whether there is a backup: name a hook for "backed-up", or make a backup and write backup = "by hand" under [campaign]`},
	}
	if diff := cmp.Diff(want, failed.Problems); diff != "" {
		t.Error(diff)
	}
	c.Backup, c.Stopped = ByHand, ByHand
	notes, err := lookReady(t.Context(), c, all, time.Now, false)
	if diff := cmp.Diff([]string{"backed up by hand, according to the campaign file: w1, w2", "stopped by hand, according to the campaign file: w1, w2"}, notes); err != nil || diff != "" {
		t.Error(err, diff)
	}
	c.Stopped, c.Hooks = "", []Hook{{On: []string{AskStopped}, Run: []string{"true"}}}
	if _, err := lookReady(t.Context(), c, all, time.Now, false); err != nil {
		t.Error(err)
	}
}

// What merges need on one disk is added up.
func TestWeighRoom(t *testing.T) {
	t.Parallel()
	n := &preflight{needs: map[string]*need{"a": {free: 100 << 20, bytes: 90 << 20, merges: []string{"w1"}}, "b": {free: 100 << 20, bytes: 120 << 20, folder: "/data", merges: []string{"w5", "w3"}}}}
	n.weighRoom()
	want := []Problem{{Reason: "the disk of /data has 100.0 MiB free, and the merges w3, w5 may need 120.0 MiB: free some space, take merges out of the campaign, or write room = \"by hand\" under [campaign] if you know better"}}
	if diff := cmp.Diff(want, n.problems); diff != "" {
		t.Error(diff)
	}
}

// All worlds are fenced before the first merge, or none.
func TestFenceAll(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 2, 2, 2, 2)
	worlds := []string{"w1", "w2", "w3", "w4"}
	all := []*job{p.planFor("w1", "w2"), p.planFor("w3", "w4")}
	c := &Campaign{Name: "autumn", Parallel: 2}
	must(t, fenceAll(t.Context(), c, all, time.Now))
	for i, w := range worlds {
		if stop, err := p.starts(w, gameid.ServerID(i+1)); err == nil {
			stop()
			t.Errorf("%s starts", w)
		}
	}
	must(t, fenceAll(t.Context(), c, all, time.Now)) // again, as after a kill

	c.Hooks = []Hook{{On: []string{AskFenced}, Run: []string{"/bin/sh", "-c", `[ "$FLEET_WORLD" != w4 ]`}}}
	failed := new(NotReadyError)
	if err := fenceAll(t.Context(), c, all, time.Now); !errors.As(err, &failed) || !strings.Contains(err.Error(), "world w4 (merge w3): its game servers can be started: the hook") {
		t.Errorf("got %v", err)
	}
	for i, w := range worlds {
		stop, err := p.starts(w, gameid.ServerID(i+1))
		stop()
		if err != nil {
			t.Errorf("%s is still fenced: %v", w, err)
		}
	}
}

// A process that was killed after it set the fences left a plan that alone can lift them: it
// is kept, also if it is stale.
func TestPlanOfFenced(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	_, err := Plan(t.Context(), b, p.options())
	must(t, err)
	plan, err := b.readPlan("w1")
	must(t, err)
	all := []*job{p.jobOf(p.database("w1"), p.database("w2"))}
	all[0].plan = plan
	must(t, fenceAll(t.Context(), b.campaign, all, time.Now))
	p.exec("w2", "DELETE FROM items") // the plan is stale as well
	_, err = Plan(t.Context(), b, p.options())
	must(t, err)
	kept, err := b.readPlan("w1")
	must(t, err)
	if kept.ID != plan.ID {
		t.Fatal("the plan of the fences is gone")
	}
	_, err = Apply(t.Context(), b, p.options())
	if err == nil || !strings.Contains(err.Error(), "undo the merge, then plan again") {
		t.Errorf("got %v", err)
	}
	_, err = Undo(t.Context(), b, p.options())
	must(t, err)
	for i, name := range []string{"w1", "w2"} {
		stop, failure := p.starts(name, gameid.ServerID(i+1))
		stop()
		must(t, failure)
	}
	again := p.options()
	again.Merges = []string{"w1"} // it was undone
	_, err = Plan(t.Context(), b, again)
	must(t, err)
	if got := phases(t, b); got != "w1 planned" {
		t.Error(got)
	}
	_, err = Apply(t.Context(), b, p.options())
	must(t, err)
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}

// An interrupt while a hook is asked ends the hook, and can be resumed.
func TestReadyInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3)
	b := p.book("", "w1 w2")
	_, err := Plan(t.Context(), b, p.options())
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	b.campaign.Hooks = []Hook{{On: []string{AskBackedUp}, URL: server.URL}}
	before := p.dump("w1")
	if _, err := Apply(ctx, b, p.options()); !errors.Is(err, merge.ErrStopped) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, p.dump("w1")); diff != "" {
		t.Error(diff)
	}
	b.campaign.Hooks = nil
	_, err = Apply(t.Context(), b, p.options())
	must(t, err)
	if got := phases(t, b); got != "w1 verified" {
		t.Error(got)
	}
}
