package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/gameworlds"
	"mergesafe/tools/internal/cli"
)

// The worlds of a made-up fleet can be merged with the rules that come with them, and those that
// are odd are refused.
func TestPlanOfMadeUpWorlds(t *testing.T) {
	dir := t.TempDir()
	f, err := gameworlds.MakeFleet(t.Context(), gameworlds.FleetOptions{Dir: dir, Seed: 1, Worlds: 6, Now: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		worlds string
		want   cli.Code
		says   string
	}{
		{"w1 w2", cli.OK, "READY  merging w1 and w2 into the new database sqlite:new.db: nothing blocks it"},
		{"w1 w3", cli.Conflicts, "schema-column: note: VARCHAR(80) NOT NULL COLLATE BINARY in w1; no such column in w3"},
		{"w4 w1", cli.Conflicts, "server 119004 runs: it is held by gameserver (pid 4711) on game-7.example"},
		{"w1 w5", cli.Conflicts, "amount is VARCHAR(12), and INT in w1"},
		{"w1 w6", cli.Incomplete, "database disk image is malformed"},
	} {
		args := []string{"plan", "-into", "sqlite:new.db", "-config", f.Config, "-o", filepath.Join(dir, strings.ReplaceAll(test.worlds, " ", "-")+".json")}
		r := servermerge(t.Context(), append(args, strings.Fields(test.worlds)...)...)
		if r.code != test.want || !strings.Contains(r.stdout+r.stderr, test.says) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", test.worlds, r.code, test.want, test.says, r.stdout, r.stderr)
		}
	}
}
