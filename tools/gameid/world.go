package main

import (
	"context"
	"fmt"
	"io"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/store"
	"mergesafe/tools/internal/cli"
)

// world is what the commands work on that repair something of one world: its
// database, and the fleet registry where there is one.
type world struct {
	db     *store.DB // read-only unless apply is set
	fleet  *store.Fleet
	server gameid.ServerID
	apply  bool
	note   store.Note
}

// worldFlags are the flags of such a command. Without -apply it changes
// nothing; where it has -reason, that is needed with it.
func worldFlags(more ...ucli.Flag) []ucli.Flag {
	return append(more, &ucli.StringFlag{Name: "server"}, &ucli.BoolFlag{Name: "apply"}, configFlag())
}

// withWorld opens for f what the flags and the only argument name.
func withWorld(ctx context.Context, cmd *ucli.Command, env cli.Env, f func(world) error) error {
	w := world{apply: cmd.Bool("apply"), note: store.Note{By: by(env), Why: cmd.String("reason")}}
	reasons := false
	for _, flag := range cmd.Flags {
		reasons = reasons || flag.Names()[0] == "reason"
	}
	switch n := cmd.Args().Len(); {
	case n != 1:
		return cli.Usage("%d databases given: want one, as a DSN or the name of a source", n)
	case !cmd.IsSet("server"):
		return cli.Usage("no server number given: want -server and a number from 1 to %d", gameid.MaxServer)
	case w.apply && reasons && w.note.Why == "":
		return cli.Usage("no reason given: want -reason and what had happened")
	}
	var err error
	if w.server, err = gameid.ParseServerID(cmd.String("server")); err != nil {
		return err
	}
	dsn, err := config.FindDSN(cmd.Args().First(), cmd.String("config"), env)
	if err != nil {
		return err
	}
	registry, err := config.FindRegistry(cmd.String("fleet"), cmd.String("config"), env)
	if err != nil {
		return err
	}
	if !registry.IsZero() {
		if w.fleet, err = store.OpenFleet(registry.Reveal()); err != nil {
			return err
		}
		defer w.fleet.Close()
	}
	open := store.OpenReadOnly
	if w.apply {
		open = store.Open
	}
	if w.db, err = open(ctx, dsn.Reveal()); err != nil {
		return err
	}
	defer w.db.Close()
	return f(w)
}

// skew returns the options of a game server with the -max-clock-skew given.
func skew(cmd *ucli.Command) (gameid.Options, error) {
	d := cmd.Duration("max-clock-skew")
	if d <= 0 {
		return gameid.Options{}, cli.Usage("-max-clock-skew is %s: want more than 0", d)
	}
	return gameid.Options{MaxSkew: d}, nil
}

// fact prints one line of what was found.
func fact(w io.Writer, what, format string, args ...any) {
	fmt.Fprintf(w, "  %-16s %s\n", what, fmt.Sprintf(format, args...))
}
