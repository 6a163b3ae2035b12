package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge"
)

// proveRenames compares the target's record of new names with the plan. A record that was
// changed is a finding, and the proof fails.
func (r *run) proveRenames(ctx context.Context, proof *Proof) error {
	there, err := r.manifest.tables(ctx)
	if err != nil {
		return err
	}
	rows, wrong, first := 0, 0, ""
	differs := func(format string, args ...any) {
		if wrong++; first == "" {
			first = fmt.Sprintf(format, args...)
		}
	}
	if slices.Contains(there, RenamesTable) {
		const query = "SELECT n, source, world, tab, col, row_key, old_value, new_value FROM " + RenamesTable + " WHERE merge_id = ? ORDER BY n"
		err := r.target.rows(ctx, query, false, []any{r.plan.ID}, func(row []any) (bool, error) {
			n, err := intIn(row[0], RenamesTable+".n")
			if err != nil {
				return false, err
			}
			have := Rename{Source: text(row[1]), World: text(row[2]), Table: text(row[3]), Column: text(row[4]), Key: text(row[5]), Old: text(row[6]), New: text(row[7])}
			switch want := r.plan.Renames; {
			case n < 0 || n >= int64(len(want)):
				differs("row %d is not of the plan", n)
			case have != want[n]:
				differs("row %d says that %s.%s of row %s of %q became %q from %q, want row %s of %q, %q from %q", n,
					have.Table, have.Column, KeyText(have.Key), have.Source, have.New, have.Old, KeyText(want[n].Key), want[n].Source, want[n].New, want[n].Old)
			default:
				rows++
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	if missing := len(r.plan.Renames) - rows - wrong; wrong == 0 && missing > 0 {
		differs("%d of %d are missing", missing, len(r.plan.Renames))
	}
	if wrong > 0 {
		proof.Verdict = merge.Fail
		proof.Findings = append(proof.Findings, Refusal{Source: r.target.Name, Table: RenamesTable,
			Reason: "this record of the new names of the merge was changed since: " + first + "; restore it from a backup, or write it again from the plan"})
	}
	return nil
}
