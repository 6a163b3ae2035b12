package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// The programs of the scripts, and of the tests that end processes:
//
//	mkworld DSN SERVER COUNT PREFIX   makes a game database
//	terminal COMMAND...               runs a command in a terminal: see clitest.TerminalMain
//	sql FILE STATEMENT...             changes an SQLite database
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fleet":    main,
		"mkworld":  clitest.MakeWorldMain,
		"terminal": clitest.TerminalMain,
		"sql":      clitest.SQLMain,
	})
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }

func TestCommands(t *testing.T) { clitest.Commands(t, command(os.LookupEnv, os.Stdout)) }

func TestHelp(t *testing.T) {
	if err := cli.CheckHelp(command(os.LookupEnv, os.Stdout)); err != nil {
		t.Error(err)
	}
}
