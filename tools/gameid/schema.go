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
Usage: gameid servers schema -mysql | -sqlite

Prints the statements that make the registry's tables in a game database, for
tools that run migrations, such as goose, golang-migrate and atlas. A game whose
account may not make tables needs them; otherwise the game server makes the
tables when it starts.

Run them once, in a database without the registry. They touch no table of the
game. After an upgrade that brings a new version of the tables, the game server
says so when it starts.

Flags:
  -mysql    for MySQL, MariaDB and what speaks their protocol. golang-migrate
            needs multiStatements=true in its DSN to run them from one file
  -sqlite   for SQLite

Examples:
  gameid servers schema -mysql > migrations/0007_gameid.sql
  gameid servers schema -sqlite | sqlite3 game.db`,
		Flags: []ucli.Flag{&ucli.BoolFlag{Name: "mysql"}, &ucli.BoolFlag{Name: "sqlite"}},
		Action: func(_ context.Context, cmd *ucli.Command) error {
			if _, err := noArguments(cmd); err != nil {
				return err
			}
			dialect := registry.MySQL
			switch mysql, sqlite := cmd.Bool("mysql"), cmd.Bool("sqlite"); {
			case mysql == sqlite:
				return cli.Usage("want one of -mysql and -sqlite")
			case sqlite:
				dialect = registry.SQLite
			}
			_, err := io.WriteString(cmd.Root().Writer, registry.SchemaText(dialect))
			return err
		},
	}
}
