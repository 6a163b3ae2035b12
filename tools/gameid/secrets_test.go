package main

import (
	"io"
	"strings"
	"testing"

	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// No command line shows the password of a DSN that is written wrongly, wherever it is given.
func TestSecrets(t *testing.T) {
	clitest.Worlds(t)
	for _, line := range []string{"gameid servers init -fleet sqlite:fleet.db",
		"gameid servers places set -fleet sqlite:fleet.db w1 mysql:tcp(127.0.0.1:1)/w1"} {
		if code := run(t.Context(), strings.Fields(line), func(string) (string, bool) { return "", false },
			io.Discard, io.Discard); code != cli.OK {
			t.Fatalf("%s: %d", line, code)
		}
	}
	arguments := map[string][]string{
		"gameid inspect":               {"00ddcdf82a000007002f"},
		"gameid new":                   {},
		"gameid servers inspect":       {"sqlite:w1.db"},
		"gameid servers init":          {},
		"gameid servers claim":         {},
		"gameid servers list":          {},
		"gameid servers retire":        {"7"},
		"gameid servers rebind":        {"7"},
		"gameid servers places":        {},
		"gameid servers places set":    {"w1", "mysql:tcp(db)/w1"},
		"gameid servers places forget": {"w1"},
		"gameid servers repair-mark":   {"sqlite:w1.db"},
		"gameid servers release":       {"sqlite:w1.db"},
		"gameid servers leave":         {"sqlite:w1.db"},
		"gameid servers schema":        {},
	}
	clitest.CommandLines(t, run, command(nil), arguments)
}
