// Package reset has the policy reset: the table is empty in the new database, whatever rows the worlds have.
package reset

import (
	"context"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// Change returns the policy reset. The table is made like all others, and no row comes.
func Change() step.Change { return step.Change{Plan: choose, Prove: prove} }

func choose(_ context.Context, p *step.Planning) error {
	for _, name := range p.Report.Reset {
		if p.DBs[0].Table(name) != nil {
			p.Plan.Resets = append(p.Plan.Resets, name)
		}
	}
	return nil
}

// prove makes sure that the tables are empty.
func prove(ctx context.Context, p *step.Proving) error {
	return p.Retry(ctx, "counting the rows of the tables that are reset", func(ctx context.Context) error {
		p.Proof.Resets = nil
		for _, table := range p.Plan.Resets {
			n, err := p.Count(ctx, table)
			if err != nil {
				return err
			}
			proof := evidence.ResetProof{Table: table, Verdict: verdict.Pass, Rows: n}
			if n > 0 {
				proof.Verdict = verdict.Fail
			}
			p.Proof.Resets = append(p.Proof.Resets, proof)
		}
		return nil
	})
}
