package main

import (
	"bytes"
	"io"
	"testing"

	"mergesafe/internal/odddsn"
	"mergesafe/internal/servertest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// No command line shows the password of a DSN that is written wrongly, wherever it is given.
func TestSecrets(t *testing.T) {
	servertest.NotShort(t)
	clitest.Worlds(t)
	line := []string{"servermerge", "plan", "-into", "sqlite:new.db", "-o", "plan.json", "sqlite:w1.db", "sqlite:w2.db"}
	if code := run(t.Context(), line, func(string) (string, bool) { return "", false }, io.Discard,
		io.Discard); code != cli.OK {
		t.Fatal(code)
	}
	arguments := map[string][]string{
		"servermerge plan":   {"sqlite:w1.db", "sqlite:w2.db"},
		"servermerge apply":  {"plan.json", "sqlite:new.db", "sqlite:w1.db", "sqlite:w2.db"},
		"servermerge status": {"plan.json", "sqlite:new.db", "sqlite:w1.db", "sqlite:w2.db"},
		"servermerge verify": {"plan.json", "sqlite:new.db", "sqlite:w1.db", "sqlite:w2.db"},
		"servermerge open":   {"plan.json", "sqlite:new.db", "sqlite:w1.db", "sqlite:w2.db"},
		"servermerge undo":   {"plan.json", "sqlite:new.db", "sqlite:w1.db", "sqlite:w2.db"},
		"servermerge whois":  {"sqlite:w1.db", "characters", "1"},
	}
	clitest.CommandLines(t, run, command(nil, io.Discard), arguments)
}

// Nor does one whose new database is a name that no file can have, since it is too long.
func TestSecretInto(t *testing.T) {
	clitest.Worlds(t)
	for _, dsn := range odddsn.Each() {
		if len(dsn) < 400 {
			continue
		}
		var out bytes.Buffer
		line := []string{"servermerge", "plan", "-into", dsn, "-o", "p.json", "sqlite:w1.db", "sqlite:w2.db"}
		run(t.Context(), line, func(string) (string, bool) { return "", false }, &out, &out)
		if shown := odddsn.Shown(out.String()); shown != "" {
			t.Errorf("%.80q: %s", dsn, shown)
		}
	}
}
