package change

import (
	"context"

	"mergesafe/merge/evidence"

	"mergesafe/merge/verdict"
)

// planReset notes the tables that are reset: they are made like all others, and no row comes.
func planReset(_ context.Context, p *Planning) error {
	for _, name := range p.Report.Reset {
		if p.DBs[0].Table(name) != nil {
			p.Plan.Resets = append(p.Plan.Resets, name)
		}
	}
	return nil
}

// proveReset makes sure that the tables are empty.
func proveReset(ctx context.Context, p *Proving) error {
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
