package campaign

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/transfer"
	"mergesafe/merge/verdict"
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
	o.Plan.Names = []transfer.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: transfer.KeepActive, By: "gold"}}
	_, err := Plan(t.Context(), b, o)
	must(t, err)
	if who, err := b.Who(); err != nil || who != heroes {
		t.Errorf("got %v, %v", who, err)
	}
	told := func(renamed bool) (all []Player) {
		t.Helper()
		left, err := b.EachPlayer(t.Context(), o, heroes, renamed, func(p Player) error { all = append(all, p); return nil })
		if err != nil || len(left) > 0 {
			t.Fatal(left, err)
		}
		return all
	}
	var before []string
	for _, p := range told(false) {
		before = append(before, p.OldWorld+" "+p.NewWorld+" "+p.OldName)
		if p.OldKey == "" || p.NewKey != p.OldKey { // IDs stay
			t.Errorf("%+v", p)
		}
	}
	if diff := cmp.Diff([]string{"w2 w1 n1-0", "w2 w1 =1+1", "w1 w1 n1-0", "w4 w3 n4-0"}, before); diff != "" {
		t.Error(diff)
	}
	renamed := told(true)
	if len(renamed) != 1 || renamed[0].OldWorld != "w1" || renamed[0].OldName != "n1-0" {
		t.Fatalf("%+v", renamed)
	}

	_, err = Apply(t.Context(), b, o)
	must(t, err)
	if diff := cmp.Diff(renamed, told(true)); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		world, name string
		want        []Player
	}{
		{"w1", " N1-0 ", renamed},
		{"", "n1-0", renamed},
		{"w2", "n1-0", []Player{{OldWorld: "w2", NewWorld: "w1", OldName: "n1-0", NewName: "n1-0"}}},
		{"w4", "anyone", []Player{{OldWorld: "w4", NewWorld: "w3", OldName: "anyone", NewName: "anyone"}}},
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
	left, err := b.EachPlayer(t.Context(), o, heroes, true, func(p Player) error { t.Errorf("%+v", p); return nil })
	if diff := cmp.Diff([]string{"w1"}, left); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// Slots that get other numbers leave no doubt which table has the players.
func TestNamed(t *testing.T) {
	p := &transfer.Plan{
		Renames: []transfer.Rename{{Table: "players", Column: "slot"}, {Table: "players", Column: "name"},
			{Table: "guilds", Column: "slot"}, {Table: "players", Column: "name"}},
		Renumbered: []verdict.Renumbered{{Table: "players", Column: "slot"}},
	}
	if diff := cmp.Diff([]Who{heroes, {"guilds", "slot"}}, named(nil, p)); diff != "" {
		t.Error(diff)
	}
}

// No name is a formula to a program for tables, and JSON has it as it is.
func TestPlayersFormats(t *testing.T) {
	t.Parallel()
	all := []Player{
		{OldWorld: "w2", NewWorld: "w1", OldName: "=cmd|' /C calc'!A0", NewName: "@x", OldKey: "-5", NewKey: "1"},
		{OldWorld: "w2", NewWorld: "w1", OldName: "a\"b,\nc", NewName: "-2+3", OldKey: "\tx", Stays: "=why"},
	}
	var asCSV, asJSON strings.Builder
	each, end := PlayersCSV(&asCSV)
	each2, end2 := PlayersJSON(&asJSON)
	for _, p := range all {
		must(t, each(p))
		must(t, each2(p))
	}
	must(t, end())
	must(t, end2())
	rows, err := csv.NewReader(strings.NewReader(asCSV.String())).ReadAll()
	must(t, err)
	want := [][]string{
		{"old_world", "new_world", "old_name", "new_name", "old_key", "new_key", "stays"},
		{"w2", "w1", "'=cmd|' /C calc'!A0", "'@x", "-5", "1", ""},
		{"w2", "w1", "a\"b,\nc", "'-2+3", "'\tx", "", "'=why"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	var got struct{ Players []Player }
	must(t, json.Unmarshal([]byte(asJSON.String()), &got))
	if diff := cmp.Diff(all, got.Players); diff != "" {
		t.Error(diff)
	}
}
