package main

import (
	"context"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
)

func (s surroundings) status(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.job(cmd)
	if err != nil {
		return err
	}
	at, err := transfer.LookUp(ctx, j.plan, j.target, j.sources)
	if err != nil {
		return unread(ctx, err, "no status")
	}
	o := j.outcome("status")
	o.Status = at
	if at.State != transfer.StateNone && at.State != transfer.StateCopied {
		o.Ending = report.Stopped
	}
	return write(o, cmd.Root().Writer, cmd.Bool("json"))
}
