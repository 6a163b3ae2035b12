// Fleet merges many worlds: it reads what there is, suggests which worlds to merge, and carries
// out a campaign of merges. See fleet -h.
package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"

	_ "time/tzdata" // for the windows of campaigns, on machines without it
)

// allowance is how many bytes of garbage the program may have: rows of all merges pass through.
const allowance = 24 << 20

func main() { cli.MainAllowing(allowance, run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout), args, stdout, stderr)
}

// command is the command line. A command is a file.
func command(env cli.Env, stdout io.Writer) *cliv3.Command {
	s := surroundings{env, stdout}
	cmd := &cliv3.Command{
		Name:        "fleet",
		Description: help,
		Commands: []*cliv3.Command{
			inventoryCommand(s), suggestCommand(s),
			planCommand(s),
			rehearseCommand(s),
			applyCommand(s),
			statusCommand(s),
			verifyCommand(s),
			undoCommand(s),
			pauseCommand(s),
			resumeCommand(s),
			skipCommand(s),
			playersCommand(s),
			serveCommand(s),
			exportCommand(s),
		},
	}
	for _, c := range cmd.Commands {
		c.Action = explained(c.Action)
	}
	cli.Arguments(cmd, func() []string { return databases.NewConfig(databases.DefaultConfig, env).SourceNames() })
	return cmd
}

// surroundings are what every command needs of the process.
type surroundings struct {
	env    cli.Env
	stdout io.Writer // as the process has it
}
