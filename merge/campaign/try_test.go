//go:build !race

package campaign

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// trying are options of a rehearsal.
func (p *place) trying() Options {
	o := p.options()
	o.Try = true
	return o
}

// A rehearsal makes new databases while the worlds run, counts what was changed since the plan, writes nothing
// to the worlds, and cannot be opened. Its undo needs no force, and then the campaign is carried out.
func TestTry(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 30, 20, 10, 5)
	worlds := []string{"w1", "w2", "w3", "w4"}
	b := p.book("parallel = 2\nwindow = '02:00-02:01'\nzone = 'UTC'", "w1 w2", "w3 w4")
	b.campaign.Backup, b.campaign.Stopped = "", ""
	planned(t, b, p.options())
	stop, failure := p.starts("w2", 2)
	must(t, failure)
	p.exec("w2", "UPDATE players SET gold = gold + 1")
	p.exec("w4", "DELETE FROM items")
	p.exec("w4", "DELETE FROM players WHERE name = 'n4-0'")
	var before []string
	for _, w := range worlds {
		before = append(before, p.content(w))
	}
	registered := p.dump("w1") // whose game does not run
	s, err := Apply(t.Context(), b, p.trying())
	must(t, err)
	if got := phases(t, b); got != "w1 tried, w3 tried" {
		t.Fatalf("got %s: %+v", got, s.Merges)
	}
	want := []Changed{{World: "w2", Table: "players", Rows: 20, Want: 20}}
	if diff := cmp.Diff(want, s.Merges[0].Changed); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	want = []Changed{{World: "w4", Table: "items", Rows: 0, Want: 5}, {World: "w4", Table: "players", Rows: 4, Want: 5}}
	if diff := cmp.Diff(want, s.Merges[1].Changed); diff != "" {
		t.Errorf("changed: %s", diff)
	}
	if m := s.Merges[0]; m.Predicted[0] <= 0 || m.Predicted[0] != m.Predicted[1] || m.Attempts != 0 || m.Open || s.Began != nil {
		t.Errorf("got %+v", m)
	}
	for i, w := range worlds {
		if diff := cmp.Diff(before[i], p.content(w)); diff != "" {
			t.Errorf("the rehearsal wrote to %s: %s", w, diff)
		}
	}
	if diff := cmp.Diff(registered, p.dump("w1")); diff != "" {
		t.Errorf("the rehearsal wrote to the registry of w1: %s", diff)
	}
	if n, m := p.made("w1").players(""), p.made("w3").players(""); n != 50 || m != 14 {
		t.Errorf("%d and %d players", n, m)
	}
	stop()

	// Again there is nothing to do. Nothing else takes it for a merge.
	must(t, second(Apply(t.Context(), b, p.trying())))
	must(t, second(Plan(t.Context(), b, p.options())))
	must(t, second(Verify(t.Context(), b, p.options())))
	if _, err := Apply(t.Context(), b, p.options()); err == nil || !strings.Contains(err.Error(), "it was made by a rehearsal and can never be opened: drop it first: fleet undo") {
		t.Errorf("apply: %v", err)
	}
	if err := b.Skip(t.Context(), "w1"); err == nil || !strings.Contains(err.Error(), "has the database of a rehearsal") {
		t.Errorf("skip: %v", err)
	}
	if got := phases(t, b); got != "w1 tried, w3 tried" {
		t.Errorf("got %s", got)
	}

	must(t, second(Undo(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 waiting, w3 waiting" || statusOf(t, b).Merges[1].Changed != nil {
		t.Errorf("got %s", got)
	}
	if db, err := sqldb.Dial(t.Context(), p.newDatabase("w1").DSN, sqldb.ReadOnly); err == nil {
		db.Close()
		t.Error("the new database is there after the undo")
	}
	b.campaign.Window, b.campaign.Backup, b.campaign.Stopped = nil, ByHand, ByHand
	planned(t, b, p.options())
	must(t, second(Apply(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 verified, w3 verified" {
		t.Errorf("got %s", got)
	}
	if _, err := Apply(t.Context(), b, p.trying()); err == nil || !strings.Contains(err.Error(), "nothing to try") {
		t.Errorf("after the merge: %v", err)
	}
}

// A rehearsal that was interrupted is resumed by the same command, and undone also if the state was lost.
func TestTryInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 2000)
	b := p.book("undo = true", "w1 w2")
	planned(t, b, p.options())
	stopped := func() {
		t.Helper()
		interrupted(t, b, p.trying())
		if m := statusOf(t, b).Merges[0]; m.Phase != Trying || m.Active {
			t.Errorf("got %+v", m)
		}
	}
	lose := func() {
		t.Helper()
		must(t, b.Close())
		must(t, os.Remove(b.statePath()))
		b = opened(t, b.file)
		must(t, second(Plan(t.Context(), b, p.options())))
	}
	undo := func() {
		t.Helper()
		s, err := Undo(t.Context(), b, p.options())
		must(t, err)
		if v := s.Say(Telling{Name: "undo"}); phases(t, b) != "w1 planned" || v.Sentence != "night: the rehearsals of 1 of 1 merge dropped" {
			t.Errorf("%s: %+v", v.Sentence, s.Merges)
		}
	}
	stopped()
	for _, again := range []func(){func() { must(t, second(Apply(t.Context(), b, p.trying()))) }, lose} {
		again()
		if got := phases(t, b); got != "w1 tried" || p.made("w1").players("") != 2003 {
			t.Errorf("got %s", got)
		}
	}
	undo()
	stopped()
	lose()
	if got := phases(t, b); got != "w1 trying" {
		t.Errorf("got %s", got)
	}
	undo()
	if _, err := os.Stat(p.dir + "/w1_m2.db"); err == nil {
		t.Error("the new database is there after the undo")
	}
	if stop, failure := p.starts("w2", gameid.ServerID(2)); failure != nil {
		t.Error(failure)
	} else {
		stop()
	}
}

// What blocks one rehearsal leaves the others alone, and begins nothing.
func TestTryRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3, 3)
	p.exec("w4", "UPDATE players SET name = 'n3-0' WHERE name = 'n4-0'")
	b := p.book("", "w1 w2", "w3 w4")
	must(t, second(Plan(t.Context(), b, p.options())))
	s, err := Apply(t.Context(), b, p.trying())
	must(t, err)
	if got := phases(t, b); got != "w1 tried, w3 refused" || !strings.Contains(s.Merges[1].Problem, "its plan is refused") {
		t.Errorf("got %s: %+v", got, s.Merges[1])
	}
}
