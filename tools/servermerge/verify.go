package main

import (
	"context"
	"errors"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) verify(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	w := j.watch(cli.LogOf(cmd), estimate.VerifyWork(j.plan.Rows())...)
	proof, err := merge.Verify(ctx, j.plan, j.into, j.worlds, w.working(j.options))
	w.close()
	o := j.outcome("verify")
	if _, refused := errors.AsType[*merge.RefusedError](err); refused {
		return j.failed(ctx, err, o)
	}
	if errors.Is(err, merge.ErrBusy) {
		return cli.WithHint(report.Plainly(err), "There is no verdict. To see the state of the merge: "+j.command("status"))
	}
	if err != nil {
		return unread(ctx, err, "no verdict")
	}
	o.Prove(proof)
	return j.conclude(ctx, o)
}
