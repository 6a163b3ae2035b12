package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) undo(ctx context.Context, cmd *cliv3.Command) error {
	if err := noDryRun(cmd); err != nil {
		return err
	}
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	_, made := sqldb.SplitAccount(j.target.DSN)
	placing, err := s.moving(ctx, cmd, j, j.sources[0], made, fmt.Sprintf("the merge %s was undone", j.plan.ID))
	if err != nil {
		return err
	}
	force := cmd.Bool("force")
	target := printable.Text(j.target.Name)
	log := cli.LogOf(cmd)
	ctx, w := j.watch(ctx, log, "undo")
	if j.plan.Into != nil {
		log.Sayf("taking the merge back: %s is dropped, if nothing was written to it that would be lost", target)
	} else {
		log.Say(fmt.Sprintf("removing %s from %s again: up to %s in %s; its own rows get their old names back", report.Sources(j.plan), target,
			printable.Count(j.plan.Rows(), "row", "rows"), printable.Count(int64(len(j.plan.Tables)), "table", "tables")), "rows", j.plan.Rows(), "tables", len(j.plan.Tables))
	}
	if force {
		log.Say("forced: rows that were changed since the merge are removed too")
	}
	asks := "This removes rows from "
	if j.plan.Into != nil {
		asks = "This drops "
	}
	if err := cli.Confirm(ctx, cmd, asks+j.where()+"."); err != nil {
		w.close()
		return unconfirmed(ctx, err)
	}
	undone, err := transfer.Undo(ctx, j.plan, j.target, j.sources, transfer.UndoOptions{Options: w.working(j.options), Force: force, Placing: placing})
	w.close()
	if errors.Is(err, transfer.ErrNoMerge) {
		return report.Plainly(err)
	}
	o := j.outcome("undo")
	o.Undone = undone
	if o.Forced = force; force {
		o.Then.Again = j.command("undo -force")
	}
	if err != nil {
		return j.failed(ctx, err, o)
	}
	return j.conclude(ctx, o)
}
