// Servermerge carries a server merge out: it copies the rows of one or more
// game databases into another, so that it can be broken off at any moment, gone
// on with, proved and taken back. See servermerge -h.
package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stderr), args, stdout, stderr)
}

// command is the command line. stderr is where progress is shown.
func command(env cli.Env, stderr io.Writer) *cliv3.Command {
	s := surroundings{env, stderr}
	cmd := &cliv3.Command{
		Name:        "servermerge",
		Description: help,
		Commands: []*cliv3.Command{
			s.planCommand(), s.applyCommand(), s.statusCommand(), s.verifyCommand(), s.undoCommand(), s.renamesCommand(),
		},
	}
	cli.Topics(cmd, map[string]string{"json": helpJSON, "safety": helpSafety})
	return cmd
}

// surroundings are what every command needs of the process.
type surroundings struct {
	env    cli.Env
	stderr io.Writer
}
