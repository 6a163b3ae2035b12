package main

import (
	"context"
	"fmt"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

func leaveCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "leave",
		Description: `
Usage: gameid servers leave -server SERVER [-apply] [-config FILE] DATABASE

Makes a world forget the fleet registry that it is bound in, so that it starts
without one, or can be bound in another. A bound world does not start without
its fleet registry: otherwise a missing line in its configuration would let a
cloned disk, or a restored backup, run beside the world unnoticed.

It is meant for a test copy that no player ever sees, and for a fleet that is
given up. It is not needed if the fleet registry just cannot be reached: a bound
world starts then too. The server must not run. The fleet registry is not
changed: there the server stays bound to this world ("gameid servers retire"
ends its use).

Flags:
  -server SERVER   the server
  -apply           do it; without, nothing is changed
  -config FILE     the configuration file (default config.toml)

Examples:
  gameid servers leave sqlite:data/copy-of-s7.db -server 7 -apply`,
		Flags: worldFlags(),
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			return withWorld(ctx, cmd, env, func(w world) error {
				own, err := w.registry.Own(ctx, w.server, true)
				if err != nil {
					return err
				}
				out := cmd.Root().Writer
				switch {
				case own.Fleet == "":
					_, err = fmt.Fprintf(out, "Server %s is not bound in a fleet registry.\n", w.server)
				case !w.apply:
					_, err = fmt.Fprintf(out, "Server %s is bound in the fleet registry of the identity %s. Nothing was changed: -apply removes that binding.\n", w.server, own.Fleet)
				default:
					if err := w.registry.Leave(ctx, w.server); err != nil {
						return err
					}
					_, err = fmt.Fprintf(out, "Server %s has left the fleet registry of the identity %s, which still has it bound to this world.\n", w.server, own.Fleet)
				}
				return err
			})
		},
	}
}
