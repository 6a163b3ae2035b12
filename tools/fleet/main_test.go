package main

import (
	"os"
	"testing"

	"mergesafe/tools/internal/cli/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, map[string]func(){"fleet": main}) }

func TestScripts(t *testing.T) { clitest.Run(t, nil) }

func TestCommands(t *testing.T) { clitest.Commands(t, command(os.LookupEnv, os.Stdout)) }
