package main

import (
	"context"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) open(ctx context.Context, cmd *cliv3.Command) error {
	j, options, spare, err := s.work(cmd)
	if err != nil {
		return err
	}
	defer j.page.Close()
	stop, err := j.codecs(ctx, cmd, &options)
	if err != nil {
		return err
	}
	defer stop()
	if err := cli.Confirm(ctx, cmd, "This lets the game into "+j.where()+"."); err != nil {
		return unconfirmed(ctx, err)
	}
	w := newWatch(cli.LogOf(cmd), spare, j.all())
	opened, err := transfer.Open(ctx, j.plan, j.target, j.sources, transfer.OpenOptions{Options: w.working(options)})
	w.close()
	o := j.outcome("open")
	o.Opened = opened
	if err != nil {
		return j.failed(ctx, err, o)
	}
	return j.conclude(ctx, o)
}
