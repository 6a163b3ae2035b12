package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func (s surroundings) open(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	place, err := s.placing(ctx, cmd, j)
	if err != nil {
		return j.unplaced(ctx, "open", err)
	}
	if err := cli.Confirm(ctx, cmd, "This proves "+j.where()+", and opens it to game servers."); err != nil {
		return err
	}
	placing := place(func(ctx context.Context, r databases.Registry) error {
		return r.Opened(ctx, j.plan, j.into, j.worlds, fmt.Sprintf("the merge %s was opened", j.plan.ID))
	})
	w := j.watch(cli.LogOf(cmd), estimate.VerifyWork(j.plan.Rows())...)
	opened, err := merge.Open(ctx, j.plan, j.into, j.worlds, merge.OpenOptions{Options: w.working(j.options), Placing: placing})
	w.close()
	o := j.outcome("open")
	if opened != nil {
		o.Open(opened, err == nil)
	}
	if err != nil && !errors.Is(err, merge.ErrNotProved) {
		return j.failed(ctx, err, o)
	}
	return j.conclude(ctx, o)
}
