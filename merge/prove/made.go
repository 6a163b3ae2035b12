package prove

import (
	"context"
	"slices"

	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// proveMade compares how the new database is made with the first world, object by object. Hidden is what was not seen.
func proveMade(ctx context.Context, r *job.Run, proof *Proof, hidden []plan.Refusal) error {
	return r.Retry(ctx, "comparing the schemas of the databases", func(ctx context.Context) error {
		proof.Unseen = slices.Clone(hidden)
		if err := noteRunning(ctx, proof, r); err != nil {
			return err
		}
		want, err := world.Read(ctx, r.Worlds[0])
		if err != nil {
			return err
		}
		want.Into(r.Plan.New.Engine)
		made, err := world.Read(ctx, r.New)
		if err != nil {
			return err
		}
		proof.Differing = want.Differences(made, r.Manifest.Left == record.StateOpen)
		return nil
	})
}

// hiddenIn returns what the account cannot see of a database, and so cannot be compared.
func hiddenIn(ctx context.Context, s *world.World) (unseen []plan.Refusal, err error) {
	hidden, err := s.HiddenObjects(ctx)
	for _, what := range hidden {
		unseen = append(unseen, plan.Refusal{Source: s.Name(), Reason: "not compared: the account cannot see everything: " + what})
	}
	return unseen, err
}

// noteRunning notes events that may have changed rows of a world after these were read.
func noteRunning(ctx context.Context, p *Proof, r *job.Run) error {
	for _, w := range r.Worlds {
		if r.Manifest.Left == record.StateOpen { // the old worlds may do as they like
			break
		}
		running, err := world.Running(ctx, w)
		if err != nil {
			return err
		}
		for _, o := range running {
			p.Unseen = append(p.Unseen, plan.Refusal{Source: w.Name, Reason: o.String() + "; then run it again"})
		}
	}
	return nil
}

// proveUnchanged compares what the worlds have beside the rows that come with the plan, as apply did before its first
// write. It refuses worlds that were altered during the proof.
func proveUnchanged(ctx context.Context, proving *change.Proving) error {
	r, f := proving.Run, new(change.Flight)
	err := r.Unaltered(ctx, "verify", func(world int, s *world.World) error {
		if world == 0 {
			*f = change.Flight{Run: r, Model: s} // its catalogue, also when it is closed
		}
		f.World, f.Source = world, s
		s.Withhold(r.Plan.WithheldRows(world))
		if err := change.Walk(ctx, func(c *change.Change) change.Do[*change.Flight] { return c.Unchanged }, f); err != nil {
			return err
		}
		return f.Counts(ctx, false)
	})
	plan.AfterUndo(f.Reasons)
	proving.Findings = append(proving.Findings, f.Reasons...)
	return err
}
