// Command gameid takes IDs apart, mints some for trying, shows which servers a
// game database knows, and keeps the fleet registry. See "gameid -h".
package main

import (
	"context"
	"io"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env), args, stdout, stderr)
}

func command(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "gameid",
		Description: `
Usage: gameid COMMAND [flags] [arguments]

Takes IDs apart, mints some for trying, shows the registry of a game database,
and keeps the fleet registry, which all game servers share.

Commands:
  inspect ID...      what an ID says: its time, server and sequence
  new                mint IDs for trying
  servers DATABASE   the servers whose IDs may be in a database, and who runs
  servers COMMAND    the fleet registry: init, claim, list, show, retire, rebind, ranges;
                     repair-mark, release, raise-mark and leave, for a world
                     that does not start, or was restored; and schema

"gameid COMMAND -h" explains each. The exit code is 0 if it worked and 2 if it
did not.

Examples:
  gameid inspect 00ddcdf82a000007002f
  gameid new -server 7 -n 10
  gameid servers sqlite:data/s1.db
  gameid servers claim -name s1`,
		Commands: []*ucli.Command{inspectCommand(), newCommand(), serversCommand(env)},
	}
}
