package main

import (
	"context"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/estimate"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) apply(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	try := cmd.Bool("try")
	j.options.Try = try
	if j.options.Elsewhere, err = s.elsewhere(cmd); err != nil {
		return err
	}
	log := cli.LogOf(cmd)
	w := j.watch(log, estimate.ApplyWork(j.plan.Rows())...)
	began := announceApply(ctx, log, j.job, try)
	if err := cli.Confirm(ctx, cmd, "This makes "+j.where()+"."); err != nil {
		w.close()
		return err
	}
	result, err := merge.Apply(ctx, j.plan, j.into, j.worlds, w.working(j.options))
	w.close()
	o := j.outcome("apply")
	if try {
		o.Then.Again = j.command("apply -try")
	}
	if err != nil {
		if result != nil {
			o.Wrote, o.Midway = result.Wrote, result.Began
		}
		return j.failed(ctx, err, o)
	}
	o.Applied = &report.Applied{Rows: result.Rows, Renames: result.Renames, Resumed: result.Resumed, RowsNow: result.Wrote, Before: result.Before, Began: began, Notes: result.Notes,
		Try: try, Changed: result.Changed}
	return j.conclude(ctx, o)
}

// announceApply says what is going to be done, before it is, and tells when it began if it did, as far as that can be seen.
func announceApply(ctx context.Context, log *cli.Log, j *job, try bool) (began *time.Time) {
	p := j.plan
	if len(p.Refusals) > 0 { // it will not begin
		return nil
	}
	log.Say(report.Merging(p)+": "+report.Amount(p), "rows", p.Rows(), "tables", len(p.Tables), "renames", len(p.Renames))
	if try {
		log.Sayf("a rehearsal: %s is made from worlds that may still be running; they are not fenced", printable.Text(p.New.Name))
		log.Sayf("it can never be opened; to drop it: %s", j.command("undo"))
	}
	for _, w := range p.Worlds {
		for _, m := range w.Servers {
			if w.Fence && m.Own && !try {
				log.Sayf("after the first write, server %s can no longer be started on %s", m.Server, printable.Text(w.Name))
			}
		}
	}
	log.Say("Ctrl-C stops it between two batches; run the same command again to resume")
	at, err := merge.LookUp(ctx, p, j.into, j.worlds)
	if err != nil {
		return nil // the work itself waits, or says why
	}
	if !at.State.Nothing() {
		log.Sayf("it was begun earlier: %s of %s are copied", printable.Number(at.Copied()), printable.Count(p.Rows(), "row", "rows"))
	}
	return at.Began
}
