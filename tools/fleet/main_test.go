package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// The programs of the scripts, and of the tests that end processes:
//
//	mkworld DSN SERVER COUNT PREFIX   makes a game database
//	sql FILE STATEMENT...             changes an SQLite database
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fleet":   main,
		"mkworld": clitest.MakeWorldMain,
		"sql":     clitest.SQLMain,
	})
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }

func TestHelp(t *testing.T) {
	root := command(os.LookupEnv, os.Stdout)
	if err := cli.CheckHelp(root); err != nil {
		t.Error(err)
	}
	texts := []string{root.Description}
	for _, c := range root.Commands {
		texts = append(texts, c.Description)
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}
