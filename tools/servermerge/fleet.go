package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
	"mergesafe/store/fleet"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func fleetFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "fleet"} }

// leaveOthers makes a plan leave out the ranges of integers that other worlds have, if it
// gives keys new values and there is a fleet registry: that of -fleet, or of the
// configuration.
func leaveOthers(ctx context.Context, cmd *cliv3.Command, config *databases.Config, options *transfer.PlanOptions) error {
	if options.Check.Rekey == nil {
		if cmd.IsSet("fleet") {
			return cli.Usage("-fleet is given and no key gets a new value: it goes with -rekey, or [[merge.space]] in the rules")
		}
		return nil
	}
	dsn, err := config.Registry(cmd.String("fleet"))
	if err != nil || dsn.IsZero() {
		return err
	}
	registry, err := fleet.Open(dsn.Reveal())
	if err != nil {
		return err
	}
	defer registry.Close()
	ranges, err := registry.Ranges(ctx)
	if err != nil {
		return err
	}
	changed := *options.Check.Rekey
	for _, r := range ranges {
		changed.Fleet = append(changed.Fleet, merge.FleetRange{World: r.World, Space: r.Space, Range: rekey.Range{Low: rekey.Signed(r.First), High: rekey.Signed(r.Last), Any: true}})
	}
	options.Check.Rekey = &changed
	options.Fleet, err = registry.Identity(ctx)
	return err
}

// reserve records the ranges of a plan in the fleet registry that it was made with.
func reserve(plan *transfer.Plan, dsn config.Secret, note fleet.Note) func(context.Context) error {
	return func(ctx context.Context) error {
		if dsn.IsZero() {
			return cli.Usage("the plan was made with the fleet registry of the identity %s: want -fleet and its DSN, or the section [registry] in the configuration", plan.Fleet)
		}
		registry, err := fleet.Open(dsn.Reveal())
		if err != nil {
			return err
		}
		defer registry.Close()
		identity, err := registry.Identity(ctx)
		if err != nil {
			return err
		}
		if identity != plan.Fleet {
			return fmt.Errorf("the fleet registry %q has the identity %s, and the plan was made with that of %s: give that one, or plan again", registry, identity, plan.Fleet)
		}
		var ranges []fleet.KeyRange
		for _, g := range plan.Rekey.Gives() {
			if low, high := g.Range.Low, g.Range.High; low.Negative || high.Bits > math.MaxInt64 {
				return fmt.Errorf("the numbers %s to %s for %q cannot be recorded in the fleet registry, which ends at 2^63-1: plan again with smaller offsets", low, high, g.World)
			}
			ranges = append(ranges, fleet.KeyRange{World: g.World, Space: g.Space, First: int64(g.Range.Low.Bits), Last: int64(g.Range.High.Bits)})
		}
		err = registry.RecordRanges(ctx, plan.ID, ranges, note)
		if taken, ok := errors.AsType[*fleet.RangeError](err); ok {
			return &transfer.RefusedError{Doing: "apply", Refusals: []transfer.Refusal{{Source: taken.Wanted.World,
				Reason: taken.Error() + ": it was given since the plan was made; plan again"}}}
		}
		return err
	}
}

// mergeNote is what the fleet registry keeps with the ranges of a plan.
func mergeNote(p *transfer.Plan) fleet.Note {
	why := "merge"
	for i, w := range p.Sources {
		if i > 0 {
			why += ","
		}
		why += " " + w.Name
	}
	why += " into " + p.Target.Name
	const most = 1024
	return fleet.Note{By: "servermerge apply", Why: string([]rune(printable.Text(why))[:min(most, len([]rune(printable.Text(why))))])}
}
