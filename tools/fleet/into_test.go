package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/store/storetest"

	"mergesafe/tools/internal/cli"
)

// rowsOf are the rows of the game in a world, without its registry.
func rowsOf(t *testing.T, file string) string {
	t.Helper()
	rows, _, _ := strings.Cut(dump(t, file), "\n1 ")
	return rows
}

// The place of a world in the fleet registry follows when its new database is opened, and comes back
// when that is undone; then it is merged again, and its name does not grow.
func TestPlaceFollows(t *testing.T) {
	dir := t.TempDir()
	nightIn(t, dir, 20, 30, 10, 5)
	const registry = "sqlite:fleet.db"
	f, err := fleet.Open("sqlite:" + filepath.Join(dir, "fleet.db"))
	must(t, err)
	defer f.Close()
	must(t, f.Create(t.Context()))
	labels := map[string]string{"language": "de"}
	for _, w := range []string{"w1", "w2", "w4"} { // w3 is found elsewhere
		must(t, f.SetPlace(t.Context(), fleet.Place{World: w, DSN: "sqlite:" + w + ".db", Labels: labels}, fleet.Note{By: "test"}))
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[[source]]\nname = 'w3'\ndsn = 'sqlite:w3.db'\n"), 0o600))
	places := func() (all string) {
		t.Helper()
		known, err := f.Places(t.Context())
		must(t, err)
		for _, p := range known {
			all += p.World + "=" + p.DSN + " " + p.Labels["language"] + "\n"
		}
		return all
	}
	home := places()
	ends(t, fleetIn(dir, "plan", "-fleet", registry, "night.toml"), cli.OK)
	if got := places(); got != home {
		t.Errorf("the plan changed the places: %s", got)
	}
	ends(t, fleetIn(dir, "apply", "-fleet", registry, "night.toml"), cli.OK)
	if got, want := places(), strings.Replace(home, "w1.db", "w1_m2.db", 1); got != want {
		t.Errorf("the places are %s", got)
	}
	known, err := f.Places(t.Context())
	must(t, err)
	if p := known[0]; p.By != "fleet" || !strings.HasSuffix(p.Why, " was opened; before: sqlite:w1.db") {
		t.Errorf("the note is %q: %q", p.By, p.Why)
	}
	// The world is there now; the campaign knows where it was.
	ends(t, fleetIn(dir, "apply", "-fleet", registry, "night.toml"), cli.OK)
	ends(t, fleetIn(dir, "verify", "-fleet", registry, "night.toml"), cli.OK)
	ends(t, fleetIn(dir, "undo", "-all", "-fleet", registry, "night.toml"), cli.OK)
	if got := places(); got != home {
		t.Errorf("after the undo the places are %s", got)
	}
	ends(t, fleetIn(dir, "plan", "-fleet", registry, "night.toml", "w1", "w3"), cli.OK)
	ends(t, fleetIn(dir, "apply", "-fleet", registry, "night.toml"), cli.OK)

	must(t, storetest.MakeWorld(t.Context(), "sqlite:"+filepath.Join(dir, "w5.db"), gameid.ServerID(5), 5, "z"))
	must(t, f.SetPlace(t.Context(), fleet.Place{World: "w5", DSN: "sqlite:w5.db"}, fleet.Note{By: "test"}))
	next := "[campaign]\nname = 'next'\nstopped = 'by hand'\nbackup = 'by hand'\n[[merge]]\nworlds = ['w1', 'w5']\n"
	must(t, os.WriteFile(filepath.Join(dir, "next.toml"), []byte(next), 0o600))
	ends(t, fleetIn(dir, "plan", "-fleet", registry, "next.toml"), cli.OK)
	ends(t, fleetIn(dir, "apply", "-fleet", registry, "next.toml"), cli.OK)
	if got := places(); !strings.Contains(got, "w1=sqlite:w1_m3.db de\n") {
		t.Errorf("the places are %s", got)
	}
	if n := strings.Count(rowsOf(t, filepath.Join(dir, "w1_m3.db")), "\n"); n != 2*(20+30+5)-1 && n != 2*(20+30+5) {
		t.Errorf("%d rows came", n)
	}
}

// Before it writes, apply says what it makes.
func TestAmount(t *testing.T) {
	dir := t.TempDir()
	nightIn(t, dir, 1, 1, 1, 1)
	book := bookIn(t, dir)
	for want, merges := range map[string][]string{
		"Makes 2 merges: w1 and w3.": nil,
		"Makes 1 merge: w3.":         {"w3"},
	} {
		if got := amount(&night{book: book, merges: merges}, "Makes"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
