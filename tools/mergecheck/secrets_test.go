package main

import (
	"io"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/tools/internal/cli/clitest"
)

// No command line shows the password of a DSN that is written wrongly, wherever it is given.
func TestSecrets(t *testing.T) {
	servertest.NotShort(t)
	clitest.Worlds(t)
	clitest.CommandLines(t, run, command(nil, io.Discard), map[string][]string{"mergecheck": {"sqlite:w1.db",
		"sqlite:w2.db", "sqlite:w3.db"}})
}

// Nor does an error about the configuration, or about a file of rules.
func TestSecretsInFiles(t *testing.T) {
	servertest.NotShort(t)
	clitest.Worlds(t)
	clitest.Texts(t, run, "config.toml", []string{
		"[registry]", "[[source]]", "[check]", "[[check.unique]]",
		"[[check.reference]]", "[[check.id]]", "[[check.world]]",
		"[merge]", "[[merge.space]]", "[[merge.counter]]", "[[merge.table]]", "[[merge.name]]",
		"[fleet]", "[schema]",
	}, []string{"mergecheck", "w1", "w2"})
	clitest.File(t, run, "config.toml", "", []string{
		"[[source]]\nname = \"w1\"\ndsn = \"§\"\n", "[[source]]\nname = \"w1\"\ndsn_env = \"ODD\"\n",
		"[[source]]\nname = \"w1\"\ndsn = \"§\"\n[[source]]\nname = \"w2\"\ndsn = \"§\"\n",
		"[[source]]\nname = \"w{1..2}\"\ndsn = \"§\"\n",
	}, []string{"mergecheck", "w1", "sqlite:w2.db"}, []string{"mergecheck", "-json", "-html", "page.html",
		"w1", "w2", "sqlite:w2.db"})
}
