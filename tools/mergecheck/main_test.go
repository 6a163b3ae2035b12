package main

import (
	"os"
	"strconv"
	"testing"

	"mergesafe/tools/internal/cli/clitest"
)

// Scripts have this program, too: cut FILE SIZE cuts a file off.
func TestMain(m *testing.M) {
	clitest.Main(m, map[string]func(){
		"mergecheck": main,
		"cut": clitest.Program(func(args []string) error {
			size, _ := strconv.Atoi(args[1])
			return os.Truncate(args[0], int64(size))
		}),
	})
}

func TestScripts(t *testing.T) { clitest.Run(t, nil) }
