package main

import (
	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/tools/internal/cli"
)

// noArguments returns no server, and an error if there are any arguments.
func noArguments(cmd *ucli.Command) (gameid.ServerID, error) {
	if cmd.Args().Present() {
		return 0, cli.Usage("unexpected argument %q: want flags only", cmd.Args().First())
	}
	return 0, nil
}

// oneServer returns the only argument, a server.
func oneServer(cmd *ucli.Command) (gameid.ServerID, error) {
	if n := cmd.Args().Len(); n != 1 {
		return 0, cli.Usage("%d servers given: want one", n)
	}
	return gameid.ParseServerID(cmd.Args().First())
}

// oneDatabase returns the only argument, a database.
func oneDatabase(cmd *ucli.Command) (string, error) {
	if n := cmd.Args().Len(); n != 1 {
		return "", cli.Usage("%d databases given: want one, as a DSN or the name of a source", n)
	}
	return cmd.Args().First(), nil
}

// serverFlag returns the server that -server names.
func serverFlag(cmd *ucli.Command) (gameid.ServerID, error) {
	if !cmd.IsSet("server") {
		return 0, cli.Usage("no server given: want -server and a number from 1 to %d", gameid.MaxServer)
	}
	return gameid.ParseServerID(cmd.String("server"))
}
