package apply

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// CheckReferences makes sure that every row of the tables of the plan references
// a row that is there. It checks all rows at once, after the last one: that costs
// a tenth of what the database takes row by row, and tables may reference each
// other, or themselves, in any order. After a copy, and so after an undo, only a
// game that wrote meanwhile can have made such a row; then says what to do. known are
// such rows that were there before, by table and columns. looked, if not nil, is called after each table.
func CheckReferences(
	ctx context.Context, r *job.Run, then string, known map[plan.ColumnAt]int64, looked func(*plan.Table),
) error {
	for i := range r.Plan.Tables {
		table := r.Plan.Tables[i].Name
		if slices.ContainsFunc(r.Plan.Check.Allowed, func(a plan.Refusal) bool { return a.Code == verdict.CodeReferenceDangle && a.Table == table }) {
			continue // the operator knows of rows without a match
		}
		for _, ref := range r.References[table] {
			n, err := r.Target.Number(ctx, r.Target.Dialect().Dangling("COUNT(*)", table, ref), false)
			lost, l := new(rowio.RowSamples), r.Naming(table, ref.Columns)
			if err == nil && n <= known[columnsAt(table, ref)] {
				continue
			}
			if err == nil && n > 0 {
				query := r.Target.Dialect().Dangling("c."+strings.Join(l.Reads, ", c."), table, ref) + fmt.Sprintf(" LIMIT %d", rowio.MaxSamples)
				err = r.Target.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
					lost.Add(l, row)
					return true, nil
				})
				lost.Rows = n
			}
			if err != nil {
				return fmt.Errorf("checking the references of table %q: %w", table, err)
			}
			if n > 0 {
				return fmt.Errorf("transfer: database %q: %d rows of table %q reference by %s rows of %q that do not exist: %s: another process wrote to it while the merge ran: %s",
					r.Target.Name, n, table, strings.Join(ref.Columns, ", "), ref.ToTable, lost, then)
			}
		}
		if looked != nil {
			looked(&r.Plan.Tables[i])
		}
	}
	return nil
}

// noneDangles is [CheckReferences] after a copy. It takes about two thirds of what completes a merge.
func noneDangles(ctx context.Context, r *job.Run) error {
	var rows int64
	all, of := r.Plan.AllRows(), rowio.Total(r.Plan.Tables, func(t *plan.Table) int64 { return t.Merged().Rows })
	return CheckReferences(ctx, r, "undo the merge, then plan again", nil, func(t *plan.Table) {
		rows += t.Merged().Rows
		done := float64(all) * float64(rows) * 2 / float64(max(of, 1)*3)
		r.Beside(ledger.StepFinish, r.Target.Name, t.Name, int64(done), all)
	})
}

// DanglingRows counts the rows of the tables of the plan that refer to nothing.
func DanglingRows(ctx context.Context, r *job.Run) (map[plan.ColumnAt]int64, error) {
	known := make(map[plan.ColumnAt]int64)
	for i := range r.Plan.Tables {
		table := r.Plan.Tables[i].Name
		for _, ref := range r.References[table] {
			n, err := r.Target.Number(ctx, r.Target.Dialect().Dangling("COUNT(*)", table, ref), false)
			if err != nil {
				return nil, fmt.Errorf("checking the references of table %q: %w", table, err)
			}
			known[columnsAt(table, ref)] = n
		}
	}
	return known, nil
}

func columnsAt(table string, ref catalog.Reference) plan.ColumnAt {
	return plan.ColumnAt{Table: table, Column: fmt.Sprintf("%q %q %q", ref.Columns, ref.ToTable, ref.ToColumns)}
}
