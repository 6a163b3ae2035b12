package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// noteLater adds to a proof that failed which merges came later: they changed the target since.
func (r *run) noteLater(ctx context.Context, proof *Proof) error {
	ids, err := r.manifest.later(ctx)
	if err != nil {
		return err
	}
	slices.Sort(ids)
	var later []Refusal
	for _, id := range ids {
		plans, err := r.manifest.ask(ctx, "SELECT plan FROM "+MergesTable+" WHERE id = ?", id)
		if err != nil {
			return err
		}
		var of struct{ Sources []World }
		if err := json.Unmarshal([]byte(strings.Join(plans, "")), &of); err != nil {
			return fmt.Errorf("the plan of the merge %s is not readable: %w", id, err)
		}
		var names []string
		for _, s := range of.Sources {
			names = append(names, s.Name)
		}
		later = append(later, Refusal{Source: r.target.Name, Reason: fmt.Sprintf("the merge %s of %s came later and changed this database, so its rows are among the differences: verify that merge by its own plan, or undo it before you verify this one",
			id, printable.Names(names))})
	}
	proof.Findings = append(later, proof.Findings...)
	return nil
}
