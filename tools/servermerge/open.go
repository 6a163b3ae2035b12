package main

import (
	"context"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) open(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	placing, err := s.moving(ctx, cmd, j, j.into, "", fmt.Sprintf("the merge %s was opened", j.plan.ID))
	if err != nil {
		return j.unplaced(ctx, "open", err)
	}
	if err := cli.Confirm(ctx, cmd, "This lets the game into "+j.where()+"."); err != nil {
		return unconfirmed(ctx, err)
	}
	ctx, w := j.watch(ctx, cli.LogOf(cmd), "open")
	opened, err := transfer.Open(ctx, j.plan, j.into, j.worlds, transfer.OpenOptions{Options: w.working(j.options), Placing: placing})
	w.close()
	o := j.outcome("open")
	o.Opened = opened
	if err != nil {
		return j.failed(ctx, err, o)
	}
	return j.conclude(ctx, o)
}
