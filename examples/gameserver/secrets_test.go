package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"mergesafe/internal/odddsn"
	"mergesafe/internal/printable"
)

// A DSN that is written wrongly shows its password nowhere: not in an error about the command line, and
// not in one about the configuration or the database.
func TestSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const server = "[server]\nnumber = 7\nlisten = \"127.0.0.1:0\"\n"
	for i, dsn := range odddsn.Each() {
		quoted := printable.TOML(dsn)
		for j, text := range []string{
			"[database]\ndsn = " + quoted, "[database]\ndsn_env = \"ODD\"\n",
			"[database]\ndsn = \"sqlite:a.db\"\n[registry]\ndsn = " + quoted, "[database]\ndsn_env = " + quoted,
			"[database]\ndsn = " + dsn,
			"listen = " + quoted, "name = " + quoted,
		} {
			if (i+j)%7 == 0 { // each in one of them
				tellsNothing(t, ended, server+text, dsn)
			}
		}
		for j, line := range []string{"-config=§", "-config §", "-listen §", "-x§", "-x=§", "-x §", "-config -p§",
			"§", "config.toml §", "-max-clock-skew §"} {
			if (i+j)%4 == 0 {
				tellsNothing(t, ended, "", dsn, strings.Split(strings.ReplaceAll(line, " §", "\x01§"), "\x01")...)
			}
		}
	}
}

// tellsNothing runs the program with a configuration and a command line that have the DSN.
func tellsNothing(t *testing.T, ctx context.Context, text, dsn string, line ...string) {
	t.Helper()
	if err := os.WriteFile("config.toml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, word := range line {
		args = append(args, strings.ReplaceAll(word, "§", dsn))
	}
	var out bytes.Buffer
	env := func(name string) (string, bool) { return dsn, name == "ODD" }
	run(ctx, args, env, &out, &out, nil)
	if part := odddsn.Shown(out.String()); part != "" {
		t.Errorf("%.300q %q shows ...%s...", text, args, part)
	}
}
