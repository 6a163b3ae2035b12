package change

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// proveNames compares the record of new names with the plan. A record that was
// changed is a finding, and the proof fails.
func proveNames(ctx context.Context, p *Proving) error {
	return p.Retry(ctx, "reading the record of new names", func(ctx context.Context) error { return compareNames(ctx, p) })
}

func compareNames(ctx context.Context, p *Proving) error {
	r := p.Run
	there, err := r.Manifest.Tables(ctx)
	if err != nil {
		return err
	}
	rows, wrong, first := 0, 0, ""
	differs := func(format string, args ...any) {
		if wrong++; first == "" {
			first = fmt.Sprintf(format, args...)
		}
	}
	if slices.Contains(there, record.RenamesTable) {
		const query = "SELECT n, source, world, tab, col, row_key, old_value, new_value FROM " + record.RenamesTable + " WHERE merge_id = ? ORDER BY n"
		err := r.New.Rows(ctx, query, false, []any{r.Plan.ID}, func(row []any) (bool, error) {
			n, err := world.IntIn(row[0], record.RenamesTable+".n")
			if err != nil {
				return false, err
			}
			have := plan.Rename{Source: world.Text(row[1]), World: world.Text(row[2]), Table: world.Text(row[3]), Column: world.Text(row[4]), Key: world.Text(row[5]), Old: world.Text(row[6]), New: world.Text(row[7])}
			switch want := r.Plan.Renames; {
			case n < 0 || n >= int64(len(want)):
				differs("row %d is not of the plan", n)
			case have != want[n]:
				differs("row %d says that %s.%s of row %s of %q became %q from %q, want row %s of %q, %q from %q", n,
					have.Table, have.Column, world.KeyText(have.Key), have.Source, have.New, have.Old, world.KeyText(want[n].Key), want[n].Source, want[n].New, want[n].Old)
			default:
				rows++
			}
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	if missing := len(r.Plan.Renames) - rows - wrong; wrong == 0 && missing > 0 {
		differs("%d of %d are missing", missing, len(r.Plan.Renames))
	}
	if wrong > 0 {
		p.Findings = append(p.Findings, plan.Refusal{Source: r.New.Name, Table: record.RenamesTable,
			Reason: "this record of the merge's new names was changed afterwards: " + first + "; restore it from a backup, or write it again from the plan"})
	}
	return nil
}
