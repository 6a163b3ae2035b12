// Fleet merges many worlds: it reads what there is, suggests which worlds to merge, and carries
// out a campaign of merges. See fleet -h.
package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/campaign"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"

	_ "time/tzdata" // for the windows of campaigns, on machines without it

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

// allowance is how many bytes of garbage the program may have: rows of all merges pass through.
const allowance = 24 << 20

func main() { cli.MainAllowing(allowance, run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout), args, stdout, stderr)
}

// command is the command line.
func command(env cli.Env, stdout io.Writer) *cliv3.Command {
	s := surroundings{env, stdout}
	cmd := &cliv3.Command{
		Name: "fleet",
		Commands: []*cliv3.Command{
			inventoryCommand(s), suggestCommand(s),
			{Name: "plan", Flags: workFlags(), Action: s.works("plan", campaign.Plan, nil)},
			applyCommand(s),
			{Name: "status", Flags: []cliv3.Flag{databases.ConfigFlag(), cli.JSONFlag(), &cliv3.StringFlag{Name: "html"}, &cliv3.StringFlag{Name: "worlds"}, &cliv3.StringFlag{Name: "fleet"}},
				Action: s.onWhole((*night).status)},
			{Name: "verify", Flags: workFlags(), Action: s.works("verify", campaign.Verify, nil)},
			undoCommand(s),
			{Name: "pause", Action: s.wishes((*campaign.Book).Pause,
				"paused: a running process stops between two batches, and begins no merge")},
			{Name: "resume", Action: s.wishes((*campaign.Book).Resume, "resumed")},
			{Name: "skip", Action: s.on((*night).skip)},
			whoisCommand(s),
			{Name: "serve", Flags: append(pageFlags(), databases.ConfigFlag()), Action: s.onWhole((*night).serve)},
		},
	}
	describe(cmd)
	for _, c := range cmd.Commands {
		describe(c)
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
