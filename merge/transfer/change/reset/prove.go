package reset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// prove makes sure that the tables are empty and that their rows are kept as they
// were.
func prove(ctx context.Context, p *step.Proving) error {
	return p.Retry(ctx, "reading the tables that were emptied", func(ctx context.Context) (err error) {
		p.Proof.Resets, err = proofs(ctx, p.Run)
		return err
	})
}

func proofs(ctx context.Context, r *job.Run) (all []evidence.ResetProof, err error) {
	there, err := r.Manifest.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.Plan.Resets {
		s := &r.Plan.Resets[i]
		p := evidence.ResetProof{Table: s.Table, Verdict: verdict.Pass, Kept: s.Kept, Want: s.Rows}
		var reasons []string
		if p.Rows, err = r.Count(ctx, s.Table); err != nil {
			return nil, err
		}
		if p.Rows > 0 {
			reasons = append(reasons, "it is not empty")
		}
		if r.Plan.Into != nil {
			p.Kept, p.Want = "", 0 // they are where they were
		} else if slices.Contains(there, s.Kept) {
			kept, err := rowio.ContentsOfMultiset(ctx, r.Target, r.Layouts[s.Table].Of(s.Kept), nil, func(int) error { return ctx.Err() })
			if err != nil {
				return nil, err
			}
			if p.Keeps = kept.Rows; kept.Rows != s.Rows || kept.Sum != s.Sum {
				reasons = append(reasons, fmt.Sprintf("the rows in %s are not those that were removed", s.Kept))
			}
		} else {
			reasons = append(reasons, fmt.Sprintf("%s, which kept its rows, is gone: the merge cannot be undone", s.Kept))
		}
		if len(reasons) > 0 {
			p.Verdict, p.Reason = verdict.Fail, strings.Join(reasons, "; ")
		}
		all = append(all, p)
	}
	return all, nil
}
