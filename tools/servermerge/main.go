// Servermerge carries a server merge out: it makes a new database of the rows of two or more
// game databases, beside them, so that it can be interrupted at any moment,
// resumed, proved and undone. See servermerge -h.
package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

// allowance is how many bytes of garbage a merge may have: all rows pass through, and
// with less it would spend a third of its time on collecting. Its memory stays below
// 150 MiB.
const allowance = 48 << 20

func main() { cli.MainAllowing(allowance, run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout), args, stdout, stderr)
}

// command is the command line. stdout is looked at only to see whether it is a
// terminal.
func command(env cli.Env, stdout io.Writer) *cliv3.Command {
	s := surroundings{env, stdout}
	cmd := &cliv3.Command{
		Name:        "servermerge",
		Description: help,
		Commands: []*cliv3.Command{
			{Name: "plan", Description: helpPlan, Flags: planFlags(), Action: s.makePlan},
			{Name: "apply", DisableSliceFlagSeparator: true, Description: helpApply, Flags: append(workFlags(), pageFlag(), &cliv3.BoolFlag{Name: "try"}, cli.YesFlag()), Action: s.apply},
			{Name: "status", Description: helpStatus, Flags: []cliv3.Flag{databases.ConfigFlag(), cli.JSONFlag()}, Action: s.status},
			{Name: "verify", DisableSliceFlagSeparator: true, Description: helpVerify, Flags: workFlags(), Action: s.verify},
			{Name: "open", DisableSliceFlagSeparator: true, Description: helpOpen, Flags: append(workFlags(), pageFlag(), fleetFlag(), cli.YesFlag()), Action: s.open},
			{Name: "undo", DisableSliceFlagSeparator: true, Description: helpUndo, Flags: append(workFlags(), &cliv3.BoolFlag{Name: "force"}, fleetFlag(), cli.YesFlag()), Action: s.undo},
			{Name: "whois", DisableSliceFlagSeparator: true, Description: helpWhois, Flags: []cliv3.Flag{databases.ConfigFlag(), cli.JSONFlag(), &cliv3.StringFlag{Name: "csv"}, &cliv3.StringFlag{Name: "names"}, codecFlag()}, Action: s.whois},
		},
	}
	cli.Topics(cmd, map[string]string{"json": helpJSON, "safety": helpSafety})
	cli.Arguments(cmd, func() []string { return databases.NewConfig(databases.DefaultConfig, env).SourceNames() })
	return cmd
}

// surroundings are what every command needs of the process.
type surroundings struct {
	env    cli.Env
	stdout io.Writer // as the process has it
}

// text is how results are written as text.
func (s surroundings) text(cmd *cliv3.Command) report.TextOptions {
	screen := cli.ScreenOf(cmd, s.stdout, s.env)
	return report.TextOptions{Width: screen.Width, Color: screen.Color}
}
