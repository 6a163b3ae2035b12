// Package ranges has merges give no keys that the fleet registry gave to other worlds, and
// records there what they give.
package ranges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mergesafe/internal/config"
	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
	"mergesafe/store/fleet"
	"mergesafe/tools/internal/cli"
)

// Registry is a fleet registry. The zero Registry is none.
type Registry struct {
	DSN config.Secret
	By  string // the program that records, such as "servermerge apply"
}

// Given are the ranges that the registry gave to worlds, and its identity.
func (r Registry) Given(ctx context.Context) (given []declare.FleetRange, identity string, err error) {
	registry, err := fleet.Open(r.DSN.Reveal())
	if err != nil {
		return nil, "", err
	}
	defer registry.Close()
	ranges, err := registry.Ranges(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, of := range ranges {
		given = append(given, declare.FleetRange{World: of.World, Space: of.Space, Range: rekey.Range{Low: rekey.Signed(of.First), High: rekey.Signed(of.Last), Any: true}})
	}
	identity, err = registry.Identity(ctx)
	return given, identity, err
}

// LeaveOthers makes a plan that gives keys new values leave out what worlds have.
func (r Registry) LeaveOthers(ctx context.Context, options *transfer.PlanOptions) error {
	given, identity, err := r.Given(ctx)
	if err != nil {
		return err
	}
	changed := *options.Check.Rekey
	changed.Fleet = append(append([]declare.FleetRange{}, changed.Fleet...), given...) // not nil: there is a registry
	options.Check.Rekey, options.Fleet = &changed, identity
	return nil
}

// Reserve records what a plan gives in the registry that it was made with.
func (r Registry) Reserve(ctx context.Context, plan *transfer.Plan) error {
	if r.DSN.IsZero() {
		return cli.Usage("the plan was made with the fleet registry of the identity %s: want -fleet and its DSN, or the section [registry] in the configuration", plan.Fleet)
	}
	registry, err := fleet.Open(r.DSN.Reveal())
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
	err = registry.RecordRanges(ctx, plan.ID, ranges, r.note(plan))
	if taken, ok := errors.AsType[*fleet.RangeError](err); ok {
		return &transfer.RefusedError{Doing: "apply", Refusals: []transfer.Refusal{{Source: taken.Wanted.World,
			Reason: taken.Error() + ": it was given since the plan was made", Next: transfer.NextPlan}}}
	}
	return err
}

// note is what the registry keeps with the ranges of a plan.
func (r Registry) note(p *transfer.Plan) fleet.Note {
	var names []string
	for _, w := range p.Worlds {
		names = append(names, w.Name)
	}
	const most = 1024
	why := []rune(printable.Text("merge " + strings.Join(names, ", ") + " into " + p.New.Name))
	return fleet.Note{By: r.By, Why: string(why[:min(most, len(why))])}
}
