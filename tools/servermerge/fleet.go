package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func fleetFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "fleet"} }

// fleetTyped is the flag as it was typed; none if it was not.
func fleetTyped(cmd *cliv3.Command) []string {
	if !cmd.IsSet("fleet") {
		return nil
	}
	return cli.Typed(cmd, fleetFlag(), cli.FleetDSN)
}

// elsewhere asks the fleet registry of the configuration whether worlds are in their databases.
func (s surroundings) elsewhere(cmd *cliv3.Command) (func(context.Context, merge.Database) (string, error), error) {
	dsn, err := databases.NewConfig(cmd.String("config"), s.env).Registry("")
	return databases.Registry{DSN: dsn}.Elsewhere(func(text string) { cli.LogOf(cmd).Say(printable.Text(text)) }), err
}

// asker makes what a command asks of the fleet registry, or records there, of how it ends: it says so, and waits no longer than
// -patience for an answer.
type asker func(with func(ctx context.Context, r databases.Registry) error) func(context.Context) error

// placing looks whether the fleet registry can be asked that knows where the worlds of a plan are.
func (s surroundings) placing(ctx context.Context, cmd *cliv3.Command, j *work) (asker, error) {
	dsn, err := databases.NewConfig(cmd.String("config"), s.env).Registry(cmd.String("fleet"))
	if err != nil {
		return nil, err
	}
	registry := databases.Registry{DSN: dsn, By: "servermerge " + cmd.Name}
	asking := func() (answered func()) {
		if dsn.IsZero() {
			return func() {}
		}
		return cli.LogOf(cmd).Waiting(ctx, "asking the fleet registry "+databases.Where(dsn.Reveal()))
	}
	answered := asking()
	err = registry.Required(ctx, j.plan, j.worlds[0])
	if answered(); err != nil {
		return nil, err
	}
	return func(with func(ctx context.Context, r databases.Registry) error) func(context.Context) error {
		return func(ctx context.Context) error {
			defer asking()()
			patience := max(j.options.RetryFor, grace)
			ctx, end := context.WithTimeout(ctx, patience)
			defer end()
			err := with(ctx, registry)
			if errors.Is(err, context.DeadlineExceeded) { // rather than to wait once more for a lock
				err = &merge.StoppedError{Doing: "recording where the worlds are", Cause: fmt.Errorf("no answer for %s: %w", patience, err)}
			}
			return err
		}
	}, nil
}

// unplaced ends a command that could not look whether the world is bound in a fleet registry. One that is away may come
// back.
func (j *work) unplaced(ctx context.Context, command string, err error) error {
	if ctx.Err() == nil && !errors.Is(err, sqldb.ErrUnavailable) {
		gone := merge.Gone(ctx, command, j.plan, j.into, j.worlds, err)
		if _, refused := errors.AsType[*merge.RefusedError](gone); refused {
			return j.failed(ctx, gone, j.outcome(command))
		}
		return err
	}
	return j.failed(ctx, &merge.StoppedError{Doing: "looking up where the worlds are", Cause: err}, j.outcome(command))
}
