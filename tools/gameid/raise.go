package main

import (
	"context"
	"fmt"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

func raiseCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "raise-mark",
		Description: `
Usage: gameid servers raise-mark -server SERVER [-to TIME] [-apply]
                                 [-max-clock-skew TIME] [-config FILE] DATABASE

Reserves all times up to the given one, so that the IDs of the server begin
after it. It is for a database that was restored from an older copy, before its
server starts again. The IDs that the server minted since that copy are not in
the tables any more. They carry times of the past, and the new ones begin at the
present. But the server may have run ahead of its clock, or its clock may have
been ahead of that of the machine on which it starts now. Then it may have used
times that are still to come. The default of a minute is more than a window of
10 s together with the error of two clocks that are kept right. A world in a
fleet registry does not need this command: the mark in the fleet registry counts
too.

The server must not run.

Flags:
  -server SERVER         the server
  -to TIME               such as 2026-11-21T04:00:00Z (default: in a minute)
  -apply                 do it; without, nothing is changed
  -max-clock-skew TIME   the farthest that TIME may be ahead (default 5m), as
                         the game server is configured
  -config FILE           the configuration file (default config.toml)

Examples:
  gameid servers raise-mark s7 -server 7 -apply`,
		Flags: worldFlags(&ucli.StringFlag{Name: "to"}, &ucli.DurationFlag{Name: "max-clock-skew", Value: 5 * time.Minute}),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			options, err := skew(cmd)
			if err != nil {
				return err
			}
			to := time.Now().Add(time.Minute)
			if cmd.IsSet("to") {
				if to, err = time.Parse(time.RFC3339, cmd.String("to")); err != nil {
					return cli.Usage("-to is %q: want a time such as 2026-11-21T04:00:00Z", cmd.String("to"))
				}
			}
			return withWorld(ctx, cmd, env, func(w world) error {
				out := cmd.Root().Writer
				if !w.apply {
					_, err := fmt.Fprintf(out, "Nothing was changed: -apply raises the mark of server %s to %s, unless it is later.\n", w.server, printable.Time(to))
					return err
				}
				raised, err := w.registry.RaiseMark(ctx, w.server, to, options)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(out, "The mark of server %s is %s: its IDs begin after that.\n", w.server, mark(raised))
				return err
			})
		},
	}
}
