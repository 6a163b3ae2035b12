package main

import (
	"os"
	"strings"
	"testing"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

// The help mentions every command and every flag, and no line is wider than a terminal.
func TestHelp(t *testing.T) {
	root := command(os.LookupEnv, os.Stdout)
	if err := cli.CheckHelp(root); err != nil {
		t.Error(err)
	}
	var narrow func(cmd *cliv3.Command)
	narrow = func(cmd *cliv3.Command) {
		for line := range strings.Lines(cmd.Description) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %s", cmd.Name, n, line)
			}
		}
		for _, sub := range cmd.Commands {
			narrow(sub)
		}
	}
	narrow(root)
}
