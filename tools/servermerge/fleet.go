package main

import (
	"context"
	"errors"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/ranges"
)

func fleetFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "fleet"} }

// leaveOthers makes a plan leave out the ranges of integers that other worlds have, if it
// gives keys new values and there is a fleet registry: that of -fleet, or of the
// configuration.
func leaveOthers(ctx context.Context, cmd *cliv3.Command, config *databases.Config, options *transfer.PlanOptions) error {
	if options.Check.Rekey == nil {
		if cmd.IsSet("fleet") {
			return cli.Usage("-fleet is given, but no key gets a new value: rekey = true in [merge], or a [[merge.space]], gives them some")
		}
		return nil
	}
	registry, err := registryOf(cmd, config)
	if err != nil || registry.DSN.IsZero() {
		return err
	}
	defer askingFleet(ctx, cmd, registry)()
	return registry.LeaveOthers(ctx, options)
}

// askingFleet says again and again that the fleet registry does not answer, until stop.
func askingFleet(ctx context.Context, cmd *cliv3.Command, registry ranges.Registry) (stop func()) {
	return cli.LogOf(cmd).Waiting(ctx, "asking the fleet registry "+databases.Where(registry.DSN.Reveal()))
}

// registryOf is the fleet registry of a command.
func registryOf(cmd *cliv3.Command, config *databases.Config) (ranges.Registry, error) {
	dsn, err := config.Registry(cmd.String("fleet"))
	return ranges.Registry{DSN: dsn, By: "servermerge " + cmd.Name}, err
}

// moving is what records in the fleet registry where the worlds of a plan are from now on.
func (s surroundings) moving(ctx context.Context, cmd *cliv3.Command, j *work, why string,
	record func(r ranges.Registry, ctx context.Context, p *transfer.Plan, into transfer.Database, worlds []transfer.Database, why string) error,
) (func(context.Context) error, error) {
	registry, err := registryOf(cmd, databases.NewConfig(cmd.String("config"), s.env))
	if err == nil {
		err = registry.Required(ctx, j.plan, j.worlds[0])
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if !registry.DSN.IsZero() {
			defer askingFleet(ctx, cmd, registry)()
		}
		return record(registry, ctx, j.plan, j.into, j.worlds, why)
	}, nil
}

// unplaced ends a command that could not look whether the world is bound in a fleet registry. One that is away may come
// back.
func (j *work) unplaced(ctx context.Context, command string, err error) error {
	if ctx.Err() == nil && !errors.Is(err, sqldb.ErrUnavailable) {
		return err
	}
	return j.failed(ctx, &transfer.StoppedError{Doing: "looking where the worlds are", Cause: err}, j.outcome(command))
}
