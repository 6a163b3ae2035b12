package main

import (
	"context"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) status(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.job(cmd)
	if err != nil {
		return err
	}
	if err := j.asPlanned(ctx, "status"); err != nil {
		return unread(ctx, err, "no status")
	}
	answered := cli.LogOf(cmd).Waiting(ctx, "asking "+printable.Names(j.names()))
	at, err := merge.LookUp(ctx, j.plan, j.into, j.worlds)
	answered()
	if err != nil {
		return unread(ctx, err, "no status")
	}
	o := j.outcome("status")
	o.Status = at
	if at.Closed || at.State != merge.StateOpen && (!at.State.Nothing() || at.Fenced()) {
		o.Ending = report.Stopped
	}
	return write(o, cmd.Root().Writer, cmd.Bool("json"), s.text(cmd))
}
