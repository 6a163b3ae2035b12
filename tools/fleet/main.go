// Fleet merges many worlds: it reads what there is, suggests which worlds to merge, and carries
// out a campaign of merges. See fleet -h.
package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout), args, stdout, stderr)
}

// command is the command line. A command is a file.
func command(env cli.Env, stdout io.Writer) *cliv3.Command {
	s := surroundings{env, stdout}
	cmd := &cliv3.Command{
		Name:        "fleet",
		Description: help,
		Commands:    []*cliv3.Command{},
	}
	_ = s
	return cmd
}

// surroundings are what every command needs of the process.
type surroundings struct {
	env    cli.Env
	stdout io.Writer // as the process has it
}
