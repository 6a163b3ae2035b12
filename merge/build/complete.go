package build

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// What is looked at when all rows are there is in this file: references, and whether another process
// wrote meanwhile.

// noneDangles makes sure that every row references a row that is there. It checks all rows at
// once, after the last one: that costs a tenth of what the database takes row by row, and tables may
// reference each other, or themselves, in any order. It takes about two thirds of what completes a
// merge.
func noneDangles(ctx context.Context, r *job.Run) error {
	var rows int64
	all, of := r.Plan.Rows(), world.Total(r.Plan.Tables, func(t *plan.Table) int64 { return t.Merged().Rows })
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		if err := noneDanglesIn(ctx, r, t.Name); err != nil {
			return err
		}
		rows += t.Merged().Rows
		done := float64(all) * float64(rows) * 2 / float64(max(of, 1)*3)
		r.Beside(record.StepFinish, r.New.Name, t.Name, int64(done), all)
	}
	return nil
}

func noneDanglesIn(ctx context.Context, r *job.Run, table string) error {
	if slices.ContainsFunc(r.Plan.Check.Allowed, func(a plan.Refusal) bool { return a.Code == verdict.CodeReferenceDangle && a.Table == table }) {
		return nil // the operator knows of rows without a match
	}
	for _, ref := range r.References[table] {
		n, err := r.New.Number(ctx, r.New.Dialect().Dangling("COUNT(*)", table, ref), false)
		lost, l := new(world.RowSamples), r.Naming(table, ref.Columns)
		if err == nil && n > 0 {
			query := r.New.Dialect().Dangling("c."+strings.Join(l.Reads, ", c."), table, ref) + fmt.Sprintf(" LIMIT %d", world.MaxSamples)
			err = r.New.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
				lost.Add(l, row)
				return true, nil
			})
			lost.Rows = n
		}
		if err != nil {
			return fmt.Errorf("checking the references of table %q: %w", table, err)
		}
		if n > 0 {
			return &record.ChangedError{Database: r.New.Name, Table: table, Reason: fmt.Sprintf("%s reference by %s rows of %q that do not exist: %s",
				record.CountRows(n), strings.Join(ref.Columns, ", "), ref.ToTable, lost)}
		}
	}
	return nil
}

// undisturbed makes sure that no other process wrote to the new database since its rows came, and
// that no server of a world ran, as far as numbers of rows and the registries tell.
func undisturbed(ctx context.Context, r *job.Run) error {
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		rows, err := r.Count(ctx, t.Name)
		if err != nil {
			return fmt.Errorf("counting the rows of table %q of %q: %w", t.Name, r.New.Name, err)
		}
		if want := t.Merged().Rows; rows != want {
			return job.Miscounted(r, t.Name, rows, want)
		}
	}
	if err := r.Fenced(ctx); err != nil {
		return err
	}
	if err := r.WorldsAsCounted(ctx); err != nil || !r.Registry {
		return err
	}
	now, err := record.Servers(ctx, r.New.Database)
	if err != nil {
		return err
	}
	if reason := record.ChangedServers(record.InNew(r.Plan.Worlds[0]), withoutMerged(r, now)); reason != "" {
		return &record.ChangedError{Database: r.New.Name, Reason: reason}
	}
	return nil
}
