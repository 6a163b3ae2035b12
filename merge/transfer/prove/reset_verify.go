package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// ResetProof is the result of [Verify] for a table that is emptied.
type ResetProof struct {
	Table   string          `json:"table"`
	Verdict verdict.Verdict `json:"verdict"` // PASS or FAIL
	Rows    int64           `json:"rows"`    // that it has; none are planned
	Kept    string          `json:"kept"`    // the table that keeps the target's rows
	Keeps   int64           `json:"keeps"`   // how many it has
	Want    int64           `json:"want"`    // how many were removed
	Reason  string          `json:"reason,omitempty"`
}

// proveResets makes sure that the tables are empty and that their rows are kept as they
// were.
func proveResets(ctx context.Context, r *job.Run) (all []ResetProof, err error) {
	there, err := r.Manifest.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.Plan.Resets {
		s := &r.Plan.Resets[i]
		p := ResetProof{Table: s.Table, Verdict: verdict.Pass, Kept: s.Kept, Want: s.Rows}
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
