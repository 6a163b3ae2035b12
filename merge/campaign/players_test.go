//go:build !race

package campaign

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
)

var heroes = Who{"players", "name"}

// Every player of a world but the first is told once, and of the first those whose names change.
func TestPlayers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 2, 2, 1, 1)
	p.exec("w2", "UPDATE players SET name = 'n1-0', gold = 9 WHERE name = 'n2-0'") // the richer one keeps it
	p.exec("w2", "UPDATE players SET name = '=1+1' WHERE name = 'n2-1'")
	b := p.book("", "w1 w2", "w3 w4")
	o := p.options()
	o.Plan.Names = []merge.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: merge.KeepActive, By: "gold"}}
	_, err := Plan(t.Context(), b, o)
	must(t, err)
	told := func(who Who) (all []merge.Fate) {
		t.Helper()
		left, err := b.EachFate(t.Context(), o, who, func(f merge.Fate) error { all = append(all, f); return nil })
		if err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		return all
	}
	var before []string
	for _, p := range told(heroes) {
		before = append(before, p.OldWorld+" "+p.NewWorld+" "+p.OldName)
		if p.OldKey == "" || p.NewKey != p.OldKey { // IDs stay
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff([]string{"w2 w1 n1-0", "w2 w1 =1+1", "w1 w1 n1-0", "w4 w3 n4-0"}, before); diff != "" {
		t.Error(diff)
	}
	renamed := told(Who{})
	if len(renamed) != 1 || renamed[0].OldWorld != "w1" || renamed[0].OldName != "n1-0" {
		t.Fatalf("%+v", renamed)
	}

	_, err = Apply(t.Context(), b, o)
	must(t, err)
	if diff := cmp.Diff(renamed, told(Who{})); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		world, name string
		want        []merge.Fate
	}{
		{"w1", " N1-0 ", renamed},
		{"", "n1-0", renamed},
		{"w2", "n1-0", []merge.Fate{{OldWorld: "w2", NewWorld: "w1", OldName: "n1-0", NewName: "n1-0"}}},
		{"w4", "anyone", []merge.Fate{{OldWorld: "w4", NewWorld: "w3", OldName: "anyone", NewName: "anyone"}}},
		{"w9", "n1-0", nil},
		{"", "anyone", nil},
	} {
		got, err := b.Players(t.Context(), heroes, c.world, c.name)
		must(t, err)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s of %s: %s", c.name, c.world, diff)
		}
	}
	for query, want := range map[string]string{
		"name=n1-0&world=w2": `200 {"players":[{"old_world":"w2","new_world":"w1","old_name":"n1-0","new_name":"n1-0"}],"version":1}`,
		"name=anyone":        `200 {"players":[],"version":1}`,
		"world=w1":           `400 {"error":"want ?name=NAME, and \u0026world=WORLD if it is known"}`,
	} {
		w := httptest.NewRecorder()
		b.PlayersHandler(heroes).ServeHTTP(w, httptest.NewRequest("GET", "/api/players?"+query, nil))
		if got := fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String())); got != want {
			t.Errorf("%s: got %s", query, got)
		}
	}
	// A merge that was undone concerns nobody.
	o.Merges = []string{"w1"}
	_, err = Undo(t.Context(), b, o)
	must(t, err)
	if got, err := b.Players(t.Context(), heroes, "w1", "n1-0"); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	left, err := b.EachFate(t.Context(), o, Who{}, func(f merge.Fate) error { t.Errorf("%+v", f); return nil })
	if diff := cmp.Diff([]string{"w1"}, left); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
