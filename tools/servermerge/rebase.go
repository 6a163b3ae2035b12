package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

func rebaseFlags() []cliv3.Flag {
	return append(append(databases.RuleFlags(), throttle.Flags()...), &cliv3.StringFlag{Name: "o"}, &cliv3.Int64Flag{Name: "offset"}, fleetFlag())
}

// unmaking is how long dropping empty tables may take, also after an interrupt.
const unmaking = time.Minute

// rebase plans how one world comes into an empty database with its keys in a range of
// their own. It makes the tables there, if there are none.
func (s surroundings) rebase(ctx context.Context, cmd *cliv3.Command) error {
	offset, args := cmd.Int64("offset"), cmd.Args().Slice()
	switch {
	case len(args) != 2:
		return cli.Usage("got %s, want SOURCE and an empty TARGET", printable.Count(int64(len(args)), "database", "databases"))
	case offset <= 0:
		return cli.Usage("-offset %d: want the number to add to every key, such as 20000000", offset)
	}
	spare, err := throttle.Of(cmd)
	if err != nil {
		return err
	}
	config := databases.NewConfig(cmd.String("config"), s.env)
	all, err := given(config, []string{args[1], args[0]})
	if err != nil {
		return err
	}
	rules, err := config.Rules(cmd)
	if err != nil {
		return err
	}
	name := cmd.String("o")
	file, err := newPlanFile(name)
	if err != nil {
		return err
	}
	defer file.Close()
	options := transfer.PlanOptions{Check: rebased(rules.Check, all[1].Name, uint64(offset)), Names: rules.Names, Copies: rules.Copies, NoFence: true}
	if err := leaveOthers(ctx, cmd, config, &options); err != nil {
		return err
	}
	made, err := transfer.MakeSchema(ctx, all[1], all[0])
	if err != nil {
		return err
	}
	plan, err := newPlan(ctx, cmd, all, options, spare)
	if err != nil || len(plan.Refusals) > 0 { // nothing will come into these tables
		stays, stop := context.WithTimeout(context.WithoutCancel(ctx), unmaking)
		defer stop()
		err = errors.Join(err, made.Unmake(stays, all[0]))
	}
	if err != nil {
		return unread(ctx, err, "no plan")
	}
	if err := file.Write(plan.Write); err != nil {
		return err
	}
	out := cmd.Root().Writer
	if len(plan.Refusals) > 0 {
		fmt.Fprintf(out, "rebase copies every table: what [[merge.table]] says does not count here. No table stays in %s.\n\n", printable.Text(all[0].Name))
	} else if made.Tables > 0 {
		fmt.Fprintf(out, "Made in %s: %s\n", printable.Text(all[0].Name), printable.Count(int64(made.Tables), "table", "tables"))
		for _, left := range made.Left {
			fmt.Fprintf(out, "  not made: %s\n", printable.Text(left))
		}
		fmt.Fprintln(out)
	}
	return s.writePlan(cmd, plan, name, all)
}

// rebased are the rules for one world: nothing of it stays behind, whatever a merge would
// leave there, and all its keys get the same number added.
func rebased(o declare.Options, source string, offset uint64) declare.Options {
	rekey := declare.Rekey{Auto: true}
	if o.Rekey != nil {
		rekey.Counters = o.Rekey.Counters
		for _, space := range o.Rekey.Spaces {
			space.Offsets = nil
			rekey.Spaces = append(rekey.Spaces, space)
		}
	}
	rekey.Offsets = map[string]uint64{source: offset}
	o.Rekey, o.Tables = &rekey, nil
	return o
}
