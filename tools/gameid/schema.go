package main

import (
	"context"
	"io"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/store/registry"
	"mergesafe/tools/internal/cli"
)

func schemaCommand() *ucli.Command {
	return &ucli.Command{
		Name: "schema",
		Description: `
Usage: gameid servers schema -mysql | -postgres | -sqlite

Prints the statements that make the registry's tables in a game database, for
tools that run migrations, such as goose, golang-migrate and atlas. A game whose
account may not make tables needs them; otherwise the game server makes the
tables when it starts.

Run them once, in a database without the registry. They touch no table of the
game. A game server that needs another version of the tables says so when it
starts.

Flags:
  -mysql     for MySQL, MariaDB and what speaks their protocol. golang-migrate
             needs multiStatements=true in its DSN to run them from one file
  -postgres  for PostgreSQL
  -sqlite    for SQLite

Examples:
  gameid servers schema -mysql > migrations/0007_gameid.sql
  gameid servers schema -sqlite | sqlite3 game.db`,
		Flags: []ucli.Flag{&ucli.BoolFlag{Name: "mysql"}, &ucli.BoolFlag{Name: "postgres"}, &ucli.BoolFlag{Name: "sqlite"}},
		Action: func(_ context.Context, cmd *ucli.Command) error {
			if _, err := noArguments(cmd); err != nil {
				return err
			}
			var asked []registry.Dialect
			for name, dialect := range map[string]registry.Dialect{"mysql": registry.MySQL, "postgres": registry.PostgreSQL, "sqlite": registry.SQLite} {
				if cmd.Bool(name) {
					asked = append(asked, dialect)
				}
			}
			if len(asked) != 1 {
				return cli.Usage("want one of -mysql, -postgres and -sqlite")
			}
			_, err := io.WriteString(cmd.Root().Writer, registry.SchemaText(asked[0]))
			return err
		},
	}
}
