// Command gameid takes IDs apart, mints some for trying, and shows which
// servers a game database knows. See "gameid -h".
package main

import (
	"context"
	"encoding/json"
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

Takes IDs apart, mints some for trying, and shows the registry of a game
database. It writes to no database.

Commands:
  inspect ID...      what an ID says: its time, server and sequence
  new                mint IDs for trying
  servers DATABASE   the servers whose IDs may be in a database, and who runs

"gameid COMMAND -h" explains each. The exit code is 0 if it worked and 2 if it
did not.

Examples:
  gameid inspect 00ddcdf82a000007002f
  gameid new -server 7 -n 10
  gameid servers sqlite:data/s1.db`,
		Commands: []*ucli.Command{inspectCommand(), newCommand(), serversCommand(env)},
	}
}

// jsonFlag makes a new flag each time: flags hold their value.
func jsonFlag() ucli.Flag { return &ucli.BoolFlag{Name: "json"} }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
