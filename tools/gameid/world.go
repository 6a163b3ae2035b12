package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// world is what the commands work on that repair something of one world: its
// database, and the fleet registry where there is one.
type world struct {
	registry *worldregistry.Registry // read-only unless apply is set
	fleet    *fleet.Fleet
	server   gameid.ServerID
	apply    bool
	note     fleet.Note
}

// worldFlags are the flags of such a command. Without -apply it changes
// nothing; where it has -reason, that is needed with it.
func worldFlags(more ...ucli.Flag) []ucli.Flag {
	return append(more, &ucli.StringFlag{Name: "server"}, &ucli.BoolFlag{Name: "apply"}, databases.ConfigFlag())
}

// withWorld opens for f what the flags and the only argument name.
func withWorld(ctx context.Context, cmd *ucli.Command, env cli.Env, f func(world) error) error {
	w := world{apply: cmd.Bool("apply"), note: fleet.Note{By: by(env), Why: cmd.String("reason")}}
	reasons := slices.ContainsFunc(cmd.Flags, func(f ucli.Flag) bool { return f.Names()[0] == "reason" })
	arg, err := oneDatabase(cmd)
	if err != nil {
		return err
	}
	if w.server, err = serverFlag(cmd); err != nil {
		return err
	}
	if w.apply && reasons && w.note.Why == "" {
		return cli.Usage("no reason given: want -reason and what happened")
	}
	config := databases.NewConfig(cmd.String("config"), env)
	dsn, err := config.DSN(arg)
	if err != nil {
		return err
	}
	fleetDSN, err := config.Registry(cmd.String("fleet"))
	if err != nil {
		return err
	}
	if !fleetDSN.IsZero() {
		if w.fleet, err = fleet.Open(fleetDSN.Reveal()); err != nil {
			return err
		}
		defer w.fleet.Close()
	}
	access := sqldb.ReadOnly
	if w.apply {
		access = sqldb.WriteExisting
	}
	answered := cli.LogOf(cmd).Waiting(ctx, "opening "+databases.Where(dsn.Reveal()))
	w.registry, err = worldregistry.Dial(ctx, dsn.Reveal(), access)
	answered()
	if err != nil {
		return err
	}
	defer w.registry.Close()
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
