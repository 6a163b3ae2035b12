package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
)

// noteLater adds to a proof that failed which merges came later: they changed the target since.
func noteLater(ctx context.Context, r *job.Run, proof *Proof) error {
	ids, err := r.Manifest.Later(ctx)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	var later []plan.Refusal
	for _, id := range ids {
		plans, err := r.Manifest.Ask(ctx, "SELECT plan FROM "+ledger.MergesTable+" WHERE id = ?", id)
		if err != nil {
			return err
		}
		var of struct{ Sources []plan.World }
		if err := json.Unmarshal([]byte(strings.Join(plans, "")), &of); err != nil {
			return fmt.Errorf("the plan of the merge %s is not readable: %w", id, err)
		}
		var names []string
		for _, s := range of.Sources {
			names = append(names, s.Name)
		}
		later = append(later, plan.Refusal{Source: r.Target.Name, Reason: fmt.Sprintf("the merge %s of %s came later and changed this database, so its rows are among the differences: verify that merge by its own plan, or undo it before you verify this one",
			id, printable.Names(names))})
	}
	proof.Findings = append(later, proof.Findings...)
	return nil
}
