package main

import (
	"os"
	"strings"
	"testing"

	"mergesafe/internal/fleet"
)

// With a fleet registry a server number that was copied into a second
// configuration is refused, which the second database alone could not tell.
func TestFleet(t *testing.T) {
	eachDatabase(t, func(t *testing.T, fleetDSN string) {
		shared, err := fleet.Open(fleetDSN)
		if err != nil {
			t.Fatal(err)
		}
		defer shared.Close()
		if err := shared.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		config := func(number int) string {
			path := writeConfig(t, number, sqliteDSN(t))
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, "\n[registry]\ndsn_env = \"FLEET_DSN\"\n"...)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		env := []string{"FLEET_DSN=" + fleetDSN}

		first := config(7)
		if p := launch(t, env, "-config", first); p.wait(t) != exitNotStarted || !strings.Contains(p.log(), "gameid servers claim -name s7 -server 7") {
			t.Errorf("a number that nobody claimed:\n%s", p.log())
		}
		if _, err := shared.Claim(t.Context(), "s7", 7, fleet.Note{By: "test"}); err != nil {
			t.Fatal(err)
		}
		p := serving(t, env, "-config", first)
		if err := playOne(p.client, "Aria", 50); err != nil {
			t.Error(err)
		}
		status, metrics, err := p.send("GET", "/metrics", nil)
		if err != nil || status != 200 || !strings.Contains(string(metrics), `fleet_state{state="joined"} 1`) {
			t.Errorf("metrics: %d, %v\n%s", status, err, metrics)
		}
		other := launch(t, env, "-config", config(7))
		if code := other.wait(t); code != exitNotStarted || strings.Count(other.log(), "\n") != 1 || !strings.Contains(other.log(), "belongs to another world") {
			t.Errorf("another world with the same number: exit code %d\n%s", code, other.log())
		}
		p.terminate(t)
		serving(t, env, "-config", first).terminate(t)
	})
}
