package prove

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// proveMade compares how the new database is made with the first world, object by object.
func proveMade(ctx context.Context, r *job.Run, proof *Proof) error {
	err := r.Retry(ctx, "counting the rows of the worlds", func(ctx context.Context) error {
		err := r.WorldsAsCounted(ctx)
		changed, is := errors.AsType[*ledger.ChangedError](err)
		if !is {
			return err
		}
		i := slices.IndexFunc(proof.Tables, func(t evidence.TableProof) bool { return t.Table == changed.Table })
		if i >= 0 && !slices.Contains(proof.Tables[i].Worlds, changed.Database) {
			proof.Tables[i].Verdict, proof.Tables[i].Worlds = verdict.Fail, append(proof.Tables[i].Worlds, changed.Database)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Retry(ctx, "comparing how the databases are made", func(ctx context.Context) error {
		if err := noteHidden(ctx, proof, r.Worlds[0], r.New); err != nil {
			return err
		}
		if err := noteRunning(ctx, proof, r); err != nil {
			return err
		}
		want, err := schema.Read(ctx, r.Worlds[0])
		if err != nil {
			return err
		}
		made, err := schema.Read(ctx, r.New)
		if err != nil {
			return err
		}
		proof.Differing = want.Differences(made, r.Manifest.Left == ledger.StateOpen)
		return nil
	})
}

// noteHidden notes what the accounts cannot see, and so cannot be compared.
func noteHidden(ctx context.Context, p *Proof, all ...*rowio.Connection) error {
	p.Unseen = nil
	for _, on := range all {
		s, err := rowio.OpenSource(ctx, on.Database)
		if err != nil {
			return err
		}
		hidden, err := s.HiddenObjects(ctx)
		s.Close()
		if err != nil {
			return err
		}
		for _, what := range hidden {
			p.Unseen = append(p.Unseen, plan.Refusal{Source: on.Name, Reason: "not compared: the account cannot see all: " + what})
		}
	}
	return nil
}

// noteRunning notes events that may have changed rows of a world after these were read.
func noteRunning(ctx context.Context, p *Proof, r *job.Run) error {
	for _, world := range r.Worlds {
		if r.Manifest.Left == ledger.StateOpen { // the old worlds may do as they like
			break
		}
		running, err := schema.Running(ctx, world)
		if err != nil {
			return err
		}
		for _, o := range running {
			p.Unseen = append(p.Unseen, plan.Refusal{Source: world.Name, Reason: o.String() + "; then run it again"})
		}
	}
	return nil
}

// proveUnchanged compares what the worlds have beside the rows that come with the plan, as apply did before its first
// write. It refuses worlds that were altered during the proof.
func proveUnchanged(ctx context.Context, proving *step.Proving) error {
	r, f := proving.Run, new(step.Flight)
	err := r.Unaltered(ctx, "verify", func(world int, s *rowio.Source) error {
		if world == 0 {
			*f = step.Flight{Run: r, Model: s} // its catalogue, also when it is closed
		}
		f.World, f.Source = world, s
		s.Withhold(r.Plan.WithheldRows(world))
		return step.Walk(ctx, all.Changes(), func(c *step.Change) step.Do[*step.Flight] { return c.Unchanged }, f)
	})
	plan.AfterUndo(f.Reasons)
	proving.Findings = append(proving.Findings, f.Reasons...)
	return err
}
