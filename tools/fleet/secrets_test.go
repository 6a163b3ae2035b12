package main

import (
	"io"
	"os"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/tools/internal/cli/clitest"
)

// No command line shows the password of a DSN that is written wrongly, wherever it is given.
func TestSecrets(t *testing.T) {
	servertest.NotShort(t)
	clitest.Worlds(t)
	if err := os.WriteFile("night.toml",
		[]byte("[campaign]\nname = \"night\"\n[[merge]]\nworlds = [\"w1\", \"w2\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := map[string][]string{
		"fleet plan":      {"none.toml", "w1"},
		"fleet apply":     {"none.toml", "w1"},
		"fleet status":    {"night.toml", "w1"},
		"fleet verify":    {"night.toml", "w1"},
		"fleet undo":      {"night.toml", "w1"},
		"fleet pause":     {"night.toml", "w1"},
		"fleet resume":    {"night.toml", "w1"},
		"fleet skip":      {"night.toml", "w1"},
		"fleet whois":     {"night.toml", "w1"},
		"fleet serve":     {"night.toml", "w1"},
		"fleet inventory": {"w1", "w2"},
		"fleet suggest":   {"w1", "w2"},
	}
	clitest.CommandLines(t, run, command(nil, io.Discard), arguments)
}

// Nor does an error about the file of a campaign, of worlds, or about what the configuration says.
func TestSecretsInFiles(t *testing.T) {
	servertest.NotShort(t)
	clitest.Worlds(t)
	const night, merge = "[campaign]\nname = \"night\"\n", "[[merge]]\nworlds = [\"w1\", \"w2\"]\n"
	status := []string{"fleet", "status", "night.toml"}
	for _, c := range []struct{ before, section string }{{merge, "[campaign]"}, {night, "[[merge]]"}, {night +
		merge, "[[hook]]"}} {
		if err := os.WriteFile("night.toml", []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		clitest.Texts(t, run, "night.toml", []string{c.section}, status)
	}
	clitest.File(t, run, "worlds.csv", "", []string{
		"name,dsn\nw1,§\n", "name,dsn\n§,sqlite:w1.db\n", "§,name,dsn\n§,w1,sqlite:w1.db\n",
		"name,dsn,zone\nw1,sqlite:w1.db,§\n", "name,dsn_env\nw1,ODD\n", "name,dsn_env\nw1,§\n", "§\n",
		"name,dsn\n\"w1\",\"§\n",
	}, []string{"fleet", "inventory", "-json", "-worlds", "worlds.csv"})
	clitest.File(t, run, "config.toml", "", []string{
		"[registry]\ndsn = \"§\"\n", "[registry]\ndsn_env = \"ODD\"\n",
		"[registry]\ndsn = \"sqlite:none.db\"\nworlds_account = \"§\"\n",
		"[registry]\ndsn = \"sqlite:none.db\"\nworlds_account_env = \"ODD\"\n",
		"[[source]]\nname = \"w1\"\ndsn = \"sqlite:w1.db\"\n[[source]]\nname = \"w2\"\ndsn = \"§\"\n",
	}, []string{"fleet", "inventory", "w1", "w2"}, []string{"fleet", "plan", "-patience=1ms",
		"night.toml"}, []string{"fleet", "status", "-json", "night.toml"})
}
