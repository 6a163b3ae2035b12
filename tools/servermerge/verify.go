package main

import (
	"context"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) verify(ctx context.Context, cmd *cliv3.Command) error {
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
	options.Reread = cmd.Bool("reread")
	w := newWatch(cli.LogOf(cmd), spare, j.all())
	proof, err := transfer.Verify(ctx, j.plan, j.target, j.sources, w.working(options))
	w.close()
	if err != nil {
		return unread(ctx, err, "no verdict")
	}
	o := j.outcome("verify")
	o.Prove(proof)
	return j.conclude(ctx, o)
}
