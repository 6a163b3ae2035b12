package main

import (
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mergesafe/tools/internal/cli/clitest"
)

// The programs of the scripts beside mergecheck:
//
//	mkworld DSN SERVER COUNT PREFIX   makes a game database
//	terminal COMMAND...               runs a command in a terminal: see clitest.TerminalMain
//	sql FILE STATEMENT...             changes an SQLite database
//	cut FILE SIZE                     cuts a file off
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mergecheck": main,
		"mkworld":    clitest.MakeWorldMain,
		"terminal":   clitest.TerminalMain,
		"sql":        clitest.SQLMain,
		"cut": clitest.Program(func(args []string) error {
			size, _ := strconv.Atoi(args[1])
			return os.Truncate(args[0], int64(size))
		}),
	})
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }
