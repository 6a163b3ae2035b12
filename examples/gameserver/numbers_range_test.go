package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/store"
)

// Processes with the same configuration share a range: each takes a number of
// its own, one too many is told who holds them, and one that is killed is
// replaced at once.
func TestNumberRange(t *testing.T) {
	numbers := store.NumberRange{First: 40, Last: 41}
	for _, withFleet := range []bool{false, true} {
		eachDatabase(t, func(t *testing.T, dsn string) {
			text := "[server]\nnumbers = \"40-41\"\nname = \"s4\"\nlisten = \"127.0.0.1:0\"\n\n[database]\ndsn_env = \"GAME_DSN\"\n" + publicKeySection(1, testKey)
			env := []string{"GAME_DSN=" + dsn}
			if withFleet {
				fleetDSN := sqliteDSN(t)
				shared, err := fleet.Open(fleetDSN)
				if err != nil {
					t.Fatal(err)
				}
				defer shared.Close()
				if err := shared.Create(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := shared.ClaimRange(t.Context(), "s4", numbers, fleet.Note{By: "test"}); err != nil {
					t.Fatal(err)
				}
				text, env = text+"\n[registry]\ndsn_env = \"FLEET_DSN\"\n", append(env, "FLEET_DSN="+fleetDSN)
			}
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			first, second := serving(t, env, "-config", path), serving(t, env, "-config", path)
			for i, p := range []*program{first, second} {
				if err := playOne(p.client, []string{"Aria", "Bran"}[i], 50); err != nil {
					t.Error(err)
				}
			}
			third := launch(t, env, "-config", path)
			if code := third.wait(t); code != exitNotStarted || strings.Count(third.log(), "\n") != 1 ||
				!strings.Contains(third.log(), "none of the 2 server numbers 40-41 is free") || !strings.Contains(third.log(), "; 40: ") || !strings.Contains(third.log(), "; 41: ") {
				t.Errorf("one process too many: exit code %d\n%s", code, third.log())
			}
			first.kill()
			again := serving(t, env, "-config", path)
			if err := playOne(again.client, "Cara", 50); err != nil {
				t.Error(err)
			}
			again.terminate(t)
			second.terminate(t)

			db := openStore(t, dsn)
			servers, err := db.Registry().Servers(t.Context())
			if err != nil || len(servers) != 2 || servers[0].Name != "s4-40" || servers[1].Name != "s4-41" {
				t.Errorf("the registry has %+v, %v", servers, err)
			}
			seen := make(map[gameid.ServerID]bool)
			for id := range storedIDs(t, db) {
				seen[id.Server()] = true
			}
			if len(seen) != 2 {
				t.Errorf("rows of the servers %v, want those of two", seen)
			}
		})
	}
}
