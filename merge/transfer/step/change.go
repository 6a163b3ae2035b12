// Package step is what a change of a merge does at each step, and what it works with there.
package step

import (
	"context"
	"slices"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Do is what a change does at one moment.
type Do[T any] func(ctx context.Context, with T) error

// Change is what a merge does beside copying rows to a table and removing them. Each function is
// one moment of a step; nil: the change has nothing to do then. The steps walk over the list of
// package all.
type Change struct {
	// Plan: it only reads. Touches reports of which tables own rows of the target may change: these
	// are part of the plan also if no source has a row. Plan is called when the tables are chosen,
	// and Measure when all their rows are summed up.
	Touches func(p *Planning) func(table string) bool
	Plan    Do[*Planning]
	Measure Do[*Planning]

	// Look before the first write. Mend and MendBack put in order what an apply or an undo left that
	// was interrupted. Ready compares one database after the other with the plan, and Together all
	// at once. Probes are statements that need the rights and change nothing.
	Mend, MendBack Do[*job.Run]
	Ready          Do[*Flight]
	Together       Do[*Flight]
	Probes         func(p *plan.Plan, d rowio.Dialect, layout func(table string) *rowio.Layout) []Probe

	// Carry out. MakeRoom changes own rows of the target before others come; in a new database there
	// are none. Bring writes the rows of tables that are not copied part by part. Confirm makes sure
	// that all of that is as planned, and Finish ends the merge.
	MakeRoom, Bring, Confirm, Finish Do[*job.Run]

	// Prove. ProveKeys adds to the parts of the proof about new keys.
	Prove, ProveKeys Do[*Proving]

	// Take back. Kept looks whether the target still keeps what an undo needs, before rows are compared;
	// CompareTable compares a table that was not copied part by part; Compare looks for all else in the
	// way. Undo takes back, when the copied rows are removed; Forget sets back the rest, and Drop removes
	// what was kept: these three from the last change to the first. ctx ends the work between two
	// transactions, and soft within one.
	Kept, Compare, Undo Do[*Undoing]
	CompareTable        func(ctx, soft context.Context, u *Undoing, table int, differs func(d *evidence.Difference)) error
	Forget, Drop        Do[*job.Run]

	// Surpass raises in the first world what a new database has given that is dropped.
	Surpass func(ctx context.Context, r *job.Run, first *rowio.Connection) error

	// Look at what an undo leaves. Unlike returns tables that are not copied and not as before.
	// Fresh returns those of the rows that came from a source which are rows of their own in the
	// target. Left looks for what the merge left in a table.
	Unlike func(ctx context.Context, r *job.Run) ([]evidence.UndoneTable, error)
	Fresh  func(ctx context.Context, r *job.Run, table, source int, rows [][]any) ([][]any, error)
	Left   func(ctx, soft context.Context, u *Undoing, found *evidence.UndoneTable) error
}

// Walk calls one moment of all changes, in their order.
func Walk[T any](ctx context.Context, changes []Change, moment func(c *Change) Do[T], with T) error {
	for i := range changes {
		if do := moment(&changes[i]); do != nil {
			if err := do(ctx, with); err != nil {
				return err
			}
		}
	}
	return nil
}

// Touched reports of which tables own rows of the target may change by any of the changes.
func Touched(changes []Change, p *Planning) func(table string) bool {
	var all []func(table string) bool
	for _, c := range changes {
		if c.Touches != nil {
			all = append(all, c.Touches(p))
		}
	}
	return func(table string) bool {
		return slices.ContainsFunc(all, func(touches func(string) bool) bool { return touches(table) })
	}
}
