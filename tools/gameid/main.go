// Command gameid inspects IDs, generates test IDs, shows the registry of a game
// database, and keeps the fleet registry. See "gameid -h".
package main

import (
	"context"
	"io"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/tools/internal/cli"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env), args, stdout, stderr)
}

func command(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "gameid",
		Description: `
Usage: gameid COMMAND [flags] [ARGUMENT...]
       gameid servers COMMAND [flags] [ARGUMENT...]
       gameid servers places COMMAND [flags] [ARGUMENT...]

Inspects IDs, generates test IDs, shows the registry of a game database, and
keeps the fleet registry, which all game servers share.

Commands:
  inspect ID...      what an ID says: its time, server and sequence
  new                generate IDs for tests
  servers COMMAND    inspect: the servers whose IDs may be in a database, and
                     which of them run; the fleet registry: init, claim, list,
                     retire, rebind, places; for a world that does not start,
                     or was restored: repair-mark, release, leave; and schema

"gameid COMMAND -h" explains each. All command lines have the same form:

  COMMAND         a verb, or servers and a verb, or servers places and a verb
  ARGUMENT        what the command is about: IDs, a DATABASE, or the NUMBER
                  of a server. Everything else is a flag
  DATABASE        the database of one world: a DSN, such as sqlite:data/s1.db or
                  mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE, or the name of a
                  [[source]] in the configuration. -server NUMBER names a server
                  in it
  -fleet DSN      the fleet registry (default: [registry] in the configuration)
  -config FILE    the configuration (default config.toml)
  -apply          carry out a repair; without it, the commands that repair a
                  world change nothing
  -reason TEXT    why, for the history of the fleet registry
  -json           print JSON instead of text

Flags may stand before or behind the arguments, with one dash or two.

Exit codes:

  0   it worked
  1   it worked, and the answer is no: the server cannot start (repair-mark)
  2   it did not work: wrong usage or configuration, a database, or an interrupt

Examples:
  gameid inspect 00ddcdf82a000007002f
  gameid new -server 7 -n 10
  gameid servers inspect sqlite:data/s1.db
  gameid servers claim -name s1`,
		Commands: []*ucli.Command{inspectCommand(), newCommand(), serversCommand(env)},
	}
}
