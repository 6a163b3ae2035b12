//go:build !race

package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"

	"mergesafe/merge"
)

// registry is a fleet registry of places.
type registry map[string]string

func (r registry) Opened(_ context.Context, plan *merge.Plan, into merge.Database, _ []merge.Database, _ string) error {
	_, now := sqldb.SplitAccount(into.DSN)
	return r.move(plan, "", now, into.Name)
}

func (r registry) Undone(_ context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, _ string) error {
	_, made := sqldb.SplitAccount(into.DSN)
	_, now := sqldb.SplitAccount(worlds[0].DSN)
	return r.move(plan, made, now, worlds[0].Name)
}

func (r registry) MayUndo(context.Context, *merge.Plan, []merge.Database) error { return nil }

func (r registry) move(plan *merge.Plan, from, to, name string) error {
	world := plan.Worlds[0].Name
	if at, known := r[world]; known && (from == "" || at == from) {
		r[world] = to
	}
	r[world+" goes on in"] = name
	return nil
}

// moving makes the databases of worlds those of the places, as those of the fleet tool are.
func (p *place) moving(r registry) Options {
	o := p.options()
	o.Places = r
	o.Databases = func(world string) (merge.Database, error) {
		d := p.database(world)
		if at, known := r[world]; known {
			account, _ := sqldb.SplitAccount(d.DSN)
			d.DSN = WithAccount(at, account)
		}
		return d, nil
	}
	return o
}

// A whole campaign: what reads changes nothing. The worlds are only fenced, all is merged and proved, nothing
// says that a world may be started before its database is open, and an undo leaves nothing.
func TestCampaign(t *testing.T) {
	onEach(t, []int{30, 20, 10, 5, 5}, func(t *testing.T, p *place) {
		worlds := []string{"w1", "w2", "w3", "w4", "w5"}
		before := p.all(worlds...)
		b := p.book("parallel = 2", "w1 w2 w3", "w4 w5")
		b.campaign.Hooks = []Hook{{On: []string{"merged", "verified"}, Run: []string{"sh", "-c", "cat >> " + p.dir + "/told"}}}
		into, other := p.newDatabase("w1").Name, p.newDatabase("w4").Name
		_, home := sqldb.SplitAccount(p.server("w1"))
		places := registry{"w1": home}
		o := p.moving(places)
		planned(t, b, o)
		if diff := cmp.Diff(before, p.all(worlds...)); diff != "" {
			t.Errorf("planning changed: %s", diff)
		}
		first := statusOf(t, b)
		planned(t, b, o) // keeps the plans
		if diff := cmp.Diff(first.Merges, statusOf(t, b).Merges); diff != "" {
			t.Errorf("planning again: %s", diff)
		}
		if places["w1"] != home {
			t.Errorf("planning moved w1 to %s", places["w1"])
		}
		s, err := Apply(t.Context(), b, o)
		must(t, err)
		if got := phases(t, b); got != "w1 verified, w4 verified" {
			t.Fatalf("got %s: %+v", got, s.Merges)
		}
		m := s.Merges[0]
		if m.New != into || !m.Open || m.Rows < 120 || m.PhaseWord() != "verified, open" || m.Problem != "" || !slices.Contains(m.Reports, "w1.open.html") {
			t.Errorf("got %+v", m)
		}
		if places["w1"] == home || !strings.Contains(places["w1"], "/"+into) || places["w1 goes on in"] != into || places["w4 goes on in"] != other {
			t.Errorf("the places are %v", places)
		}
		merged, err := o.Databases("w1")
		must(t, err)
		in := &place{TB: t, dir: p.dir, server: func(string) string { return merged.DSN }}
		if n := in.players("w1"); n != 60 {
			t.Errorf("the new database has %d players", n)
		}
		if stop, failure := in.starts("w1", 1); failure != nil {
			t.Errorf("the world cannot be started in its new database: %v", failure)
		} else {
			stop()
		}
		for i, w := range worlds {
			if n := p.players(w); n != []int{30, 20, 10, 5, 5}[i] {
				t.Errorf("%s has %d players", w, n)
			}
		}
		if stop, failure := p.starts("w1", 1); failure == nil {
			stop()
			t.Error("the world can be started in its old database")
		}
		told := events(t, p)
		if diff := cmp.Diff([]string{"merged " + into, "verified " + into}, told["w1"]); diff != "" {
			t.Errorf("hooks were told: %s", diff)
		}
		for _, name := range []string{"w1.json", "w1.plan.html", "w1.apply.html", "w4.open.html"} {
			if _, err := os.Stat(b.Plans() + "/" + name); err != nil {
				t.Error(err)
			}
		}
		// Again: nothing is to do, also for the world that was moved.
		must(t, second(Apply(t.Context(), b, o)))
		planned(t, b, o)
		if got := phases(t, b); got != "w1 verified, w4 verified" {
			t.Errorf("got %s", got)
		}
		text, err := os.ReadFile(p.dir + "/told")
		must(t, err)
		if account, _ := sqldb.SplitAccount(p.server("w1")); account != "" && strings.Contains(string(text), strings.TrimSuffix(account, "@")) {
			t.Errorf("hooks were told the account")
		}
		s, err = Undo(t.Context(), b, o)
		must(t, err)
		if got := phases(t, b); got != "w1 undone, w4 undone" {
			t.Errorf("got %s: %+v", got, s.Merges)
		}
		if places["w1"] != home || places["w1 goes on in"] != "w1" || s.Merges[0].Open {
			t.Errorf("after the undo the place is %s, and the state %+v", places["w1"], s.Merges[0])
		}
		for i, w := range worlds {
			if stop, failure := p.starts(w, []gameid.ServerID{1, 2, 3, 4, 5}[i]); failure != nil {
				t.Errorf("%s cannot be started after the undo: %v", w, failure)
			} else {
				stop()
			}
		}
		for i, w := range worlds {
			if got := p.content(w); !strings.HasPrefix(before[i], got) {
				t.Errorf("undone: %s", cmp.Diff(before[i], got))
			}
		}
		must(t, second(Undo(t.Context(), b, o))) // again: nothing is to do
		db, err := sqldb.Dial(t.Context(), merged.DSN, sqldb.ReadOnly)
		if err == nil {
			db.Close()
			t.Error("the new database is there after the undo")
		}
		// What was undone is left alone, unless it is named.
		must(t, second(Apply(t.Context(), b, o)))
		if got := phases(t, b); got != "w1 undone, w4 undone" {
			t.Errorf("got %s", got)
		}
		o.Merges = []string{"w4"}
		must(t, second(Plan(t.Context(), b, o)))
		must(t, second(Apply(t.Context(), b, o)))
		if got := phases(t, b); got != "w1 undone, w4 verified" || p.made("w4").players("") != 10 {
			t.Errorf("got %s", got)
		}
	})
}

// events are what hooks were told of each merge, as lines of JSON.
func events(t *testing.T, p *place) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(p.dir + "/told")
	must(t, err)
	told := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		var m Message
		must(t, json.Unmarshal([]byte(line), &m))
		if !strings.HasSuffix(strings.TrimSuffix(m.Address, ".db"), "/"+m.New) {
			t.Errorf("the address of %s is %s", m.New, m.Address)
		}
		told[m.Merge] = append(told[m.Merge], m.Event+" "+m.New)
	}
	return told
}

// opensLater is a registry that does not answer at first.
type opensLater struct {
	registry
	fails *int
}

func (o opensLater) Opened(ctx context.Context, plan *merge.Plan, into merge.Database, worlds []merge.Database, why string) error {
	if *o.fails > 0 {
		*o.fails--
		return errors.New("it is away")
	}
	return o.registry.Opened(ctx, plan, into, worlds, why)
}

// A merge that was proved and could not be opened is not undone, and the same command opens it. What is
// open is never proved again, since a game may have written there; nor undone by itself.
func TestOpenLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 30, 20)
	b := p.book("undo = true", "w1 w2")
	places, fails := registry{"w1": p.server("w1")}, 1
	o := p.moving(places)
	o.Places = opensLater{places, &fails}
	planned(t, b, o)
	s, err := Apply(t.Context(), b, o)
	must(t, err)
	m := s.Merges[0]
	if m.Phase != Opening || m.Open || m.PhaseWord() != "proved, not open" || !strings.Contains(m.Problem, "it is made, and not open: the fleet registry could not note where the worlds of ") {
		t.Fatalf("got %+v", m)
	}
	if places["w1"] != p.server("w1") {
		t.Error("the place was set")
	}
	if stop, failure := p.made("w1").starts("w1", 1); failure == nil {
		stop()
		t.Error("the world can be started before its database is open")
	}
	must(t, second(Verify(t.Context(), b, o))) // proves it, and opens nothing
	if got := statusOf(t, b).Merges[0]; got.Phase != Opening || got.Open {
		t.Errorf("after verify: %+v", got)
	}
	s, err = Apply(t.Context(), b, o)
	must(t, err)
	if m := s.Merges[0]; m.Phase != Verified || !m.Open || m.Problem != "" {
		t.Fatalf("got %+v", m)
	}
	// As if the process had been killed before it could write that down.
	must(t, b.change(t.Context(), func(ctx context.Context, st state) error {
		return st.set(ctx, b.campaign.Merges[0], func(r *record) { r.Phase, r.Open = Verifying, false })
	}))
	in := p.made("w1")
	in.exec("w1", "UPDATE players SET gold = gold + 1")
	s, err = Apply(t.Context(), b, o)
	must(t, err)
	if m := s.Merges[0]; m.Phase != Verified || !m.Open {
		t.Errorf("got %+v", m)
	}
	if n := in.players("w1"); n != 50 {
		t.Errorf("%d players", n)
	}
	// What was played since blocks the undo, unless it is forced.
	if s, err = Undo(t.Context(), b, o); err != nil || s.Merges[0].Phase != Verified || s.Merges[0].Undo != UndidNothing || places["w1"] == p.server("w1") {
		t.Errorf("%v, %+v", err, s.Merges[0])
	}
	o.Force = true
	if s, err = Undo(t.Context(), b, o); err != nil || s.Merges[0].Phase != Undone || places["w1"] != p.server("w1") {
		t.Errorf("%v, %+v", err, s.Merges[0])
	}
}

// If the proof of a new database fails, it is not opened; if the campaign says undo, it is dropped.
func TestIntoFails(t *testing.T) {
	t.Parallel()
	for _, undo := range []string{"", "undo = true"} {
		p := newPlace(t, 30, 20)
		b := p.book(undo, "w1 w2")
		o := p.options()
		planned(t, b, o)
		before := p.content("w1")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		o.Work.Pause = func(context.Context) error { // it is interrupted before the proof
			if statusOf(t, b).Merges[0].Phase == Verifying {
				cancel()
			}
			return ctx.Err()
		}
		if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
			t.Fatalf("got %v", err)
		}
		p.exec("w2", "UPDATE players SET gold = gold + 1") // past its fence
		o.Work.Pause = nil
		s, err := Apply(t.Context(), b, o)
		must(t, err)
		m := s.Merges[0]
		want := map[string]Phase{"": Failed, "undo = true": Undone}[undo]
		if m.Phase != want || m.Open {
			t.Errorf("%q: got %+v", undo, m)
		}
		_, err = os.Stat(p.dir + "/w1_m2.db")
		if there := err == nil; there == (undo != "") {
			t.Errorf("%q: the new database is there: %v", undo, there)
		}
		if undo != "" && p.content("w1") != before {
			t.Errorf("after the undo: %s", cmp.Diff(before, p.content("w1")))
		}
	}
}

// What the campaign file cannot know of databases is said before anything is planned.
func TestIntoRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 3, 3, 3, 3)
	for _, c := range []struct{ head, want string }{
		{"into = 'mysql:tcp(127.0.0.1:1)/{first}_m{n}'", "is not of the same kind as the first world's (sqlite)"},
		{"into = 'sqlite:" + p.dir + "/{first}.db'", "has the name of a world"},
	} {
		b := p.book(c.head, "w1 w2", "w3 w4")
		if _, err := Plan(t.Context(), b, p.options()); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "night.toml") {
			t.Errorf("%s: got %v", c.head, err)
		}
	}
	b := p.book("", "w1 w2", "w3 w4")
	for into, want := range map[string]string{
		"sqlite:" + p.dir + "/./w4.db": `"w1" is that of the world "w4": want one that does not exist, such as one with {n} in its name`,
		"w9":                           `is also that of the merge "w3"`,
	} {
		b.campaign.Merges[0].Into, b.campaign.Merges[1].Into = into, "sqlite:"+p.dir+"/w9.db"
		if _, err := Plan(t.Context(), b, p.options()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", into, err)
		}
	}
	// A password that is not where it belongs is not shown.
	lost := p.options()
	lost.Databases = func(world string) (merge.Database, error) {
		return merge.Database{Name: world, DSN: "mysql:root:hunter2@tcp(127.0.0.1:3306)"}, nil
	}
	if _, err := Plan(t.Context(), p.book("", "w1 w2"), lost); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), `beside the world "w1"`) {
		t.Errorf("got %v", err)
	}
	// A merge that has a plan for one database has none for another.
	b = p.book("", "w1 w2")
	planned(t, b, p.options())
	b = p.book("into = '{first}_2026'", "w1 w2")
	_, err := Apply(t.Context(), b, p.options())
	if _, is := errors.AsType[*NotReadyError](err); !is || !strings.Contains(err.Error(), "makes a different new database") {
		t.Errorf("got %v", err)
	}
	planned(t, b, p.options())
	if got := statusOf(t, b).Merges[0].New; got != "w1_2026" {
		t.Errorf("planned again for %s", got)
	}
	// A database that is there is refused by the plan.
	must(t, os.WriteFile(filepath.Join(p.dir, "other.txt"), nil, 0o644))
	o := p.options()
	p.world(5, 1)
	must(t, os.Rename(p.dir+"/w5.db", p.dir+"/w1_2027.db"))
	b = p.book("into = '{first}_2027'", "w1 w2")
	s, err := Plan(t.Context(), b, o)
	must(t, err)
	if m := s.Merges[0]; m.Phase != Refused || !strings.Contains(m.Problem, "the new database is not empty") {
		t.Errorf("got %+v", m)
	}
}

// If the state is lost, plan finds how far merges are, as the databases say.
func TestIntoStateLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 30, 20)
	b := p.book("", "w1 w2")
	places := registry{"w1": p.server("w1")}
	o := p.moving(places)
	planned(t, b, o)
	must(t, second(Apply(t.Context(), b, o)))
	b.Close()
	must(t, os.Remove(b.statePath()))
	b = opened(t, b.file)
	s, err := Plan(t.Context(), b, o)
	if m := s.Merges[0]; err != nil || m.Phase != Refused || !strings.Contains(m.Problem, "because its merge was opened and the state was lost") {
		t.Errorf("%v, %+v", err, m)
	}
	places["w1"] = p.server("w1")
	planned(t, b, o)
	if m := statusOf(t, b).Merges[0]; m.Phase != Verified || !m.Open || m.New != "w1_m2" {
		t.Errorf("got %+v", m)
	}
}
