package main

import (
	"context"
	"slices"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/estimate"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func (s surroundings) apply(ctx context.Context, cmd *cliv3.Command) error {
	if err := noDryRun(cmd); err != nil {
		return err
	}
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	if j.plan.Fleet != "" {
		registry, err := registryOf(cmd, databases.NewConfig(cmd.String("config"), s.env))
		if err != nil {
			return err
		}
		j.options.Reserve = func(ctx context.Context) error {
			defer askingFleet(ctx, cmd, registry)()
			return registry.Reserve(ctx, j.plan)
		}
	}
	log := cli.LogOf(cmd)
	ctx, w := j.watch(ctx, log, "apply", estimate.ApplyWork(j.plan)...)
	began, before := announceApply(ctx, log, j.job)
	if err := cli.Confirm(ctx, cmd, "This writes to "+j.where()+"."); err != nil {
		w.close()
		return unconfirmed(ctx, err)
	}
	result, err := transfer.Apply(ctx, j.plan, j.target, j.sources, w.working(j.options))
	w.close()
	o := j.outcome("apply")
	if err != nil {
		return j.failed(ctx, err, o)
	}
	o.Applied = &report.Applied{Rows: result.Rows, Renames: result.Renames, Resumed: result.Resumed, RowsNow: result.Wrote, Before: before, Began: began, Notes: result.Notes}
	return j.conclude(ctx, o)
}

// announceApply says what is going to be done, before it is, and tells when it began if it did,
// and whether all of it is done already, as far as that can be seen.
func announceApply(ctx context.Context, log *cli.Log, j *job) (began *time.Time, before bool) {
	p := j.plan
	if len(p.Refusals) > 0 { // it will not begin
		return nil, false
	}
	log.Say(report.Merging(p)+": "+report.Amount(p), "rows", p.AllRows(), "tables", len(p.Tables), "renames", len(p.Renames))
	for _, w := range p.Origins() {
		for _, m := range w.Servers {
			if w.Fence && m.Own {
				log.Sayf("from its first write on, server %s cannot be started on %s any more", m.Server, printable.Text(w.Name))
			}
		}
	}
	for _, m := range p.Target.Servers {
		if m.Own && p.Into == nil {
			log.Sayf("from its first write on, server %s cannot be started on %s until the merge is completed or undone", m.Server, printable.Text(p.Target.Name))
		}
	}
	log.Say("Ctrl-C stops it between two batches; run the same command again to resume")
	at, err := transfer.LookUp(ctx, p, j.target, j.sources)
	if err != nil {
		return nil, false // the work itself waits, or says why
	}
	rows := p.Rows()
	if p.Into != nil {
		rows += p.OwnRows()
	}
	if at.State != transfer.StateNone {
		log.Sayf("it was begun before: %s of %s are copied", printable.Number(at.Copied()), printable.Count(rows, "row", "rows"))
	}
	fenced := slices.ContainsFunc(at.Fences, func(f transfer.FenceStatus) bool { return f.Source == p.Target.Name && f.Fenced })
	return at.Began, at.State == transfer.StateMade || at.State == transfer.StateProved || at.State == transfer.StateCopied && !fenced
}
