package undo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/write"
)

// removeMultiset removes from a table without a key as many rows of each identity as
// came from a source, in one transaction: all of them, and then puts those back that
// are more than came. To remove one by one would read the table for each.
func (u *undo) removeMultiset(ctx, soft context.Context, w *job.Run, p plan.Part, copied, before *ledger.Checkpoint) error {
	src, l := w.Sources[p.Source], w.Layouts[w.Plan.Tables[p.Table].Name]
	if err := w.Between(ctx); err != nil {
		return err
	}
	came, err := w.CopiedFrom(soft, src, l, copied)
	if err != nil {
		return err
	}
	others, err := w.CameTo(soft, p.Table, p.Source)
	if err != nil {
		return err
	}
	maps.Copy(others, came) // only which rows these are matters
	now := *before
	now.Saved, now.Finished, now.Rows, now.Sum = true, true, copied.Rows, copied.Sum
	removed, want := int64(0), int64(0)
	kept := make(map[string]int64)
	err = w.Target.Tx(soft, func() error {
		there, err := rowio.Identities(soft, w.Target, l, nil, came)
		if err != nil {
			return err
		}
		var all []any
		for is, n := range there {
			all, want = append(all, is), want+n
			if n > came[is] {
				kept[is] = n - came[is]
			}
		}
		for is, rows := range came {
			if n := there[is]; n < rows && !u.Force {
				return fmt.Errorf("table %q: %d rows that came from %q are gone or were changed while the undo ran; stop the process that writes there, then force the undo or correct the rows", l.Table, rows-n, src.Name)
			}
		}
		const atOnce = 10_000 // each statement reads the whole table
		for part := range slices.Chunk(all, atOnce) {
			n, err := w.Target.Exec(soft, "delete", l.RemoveAll(len(part)), false, part...)
			if err != nil {
				return err
			}
			removed += n
		}
		if removed != want {
			return fmt.Errorf("table %q: %d rows were removed, want %d: another process changed it", l.Table, removed, want)
		}
		if err := putRowsBack(soft, w, src, l, kept); err != nil {
			return err
		}
		gone := rowio.Total64(came)
		for is, n := range there {
			gone -= min(n, came[is])
		}
		equal, err := rowio.Identities(soft, w.Target, l, nil, others)
		if err != nil {
			return err
		}
		now.After = []any{gone, rowio.Total64(equal)}
		return w.Manifest.Save(soft, before, &now)
	})
	return apply.DidMultiset(soft, w, src, l, before, &now, removed-rowio.Total64(kept), err)
}

// putRowsBack inserts rows of these identities, as a source has them, as often as it says.
func putRowsBack(ctx context.Context, r *job.Run, src *rowio.Connection, l *rowio.Layout, kept map[string]int64) error {
	if len(kept) == 0 {
		return nil
	}
	var rows [][]any
	left := maps.Clone(kept)
	query := "SELECT " + l.Identity + ", " + strings.Join(l.Reads, ", ") + " FROM " + l.MovedTable(r.Changes.Moves(src.Name, l), src.Comes(l.Table))
	err := src.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		if n := left[rowio.Text(row[0])]; n > 0 {
			delete(left, rowio.Text(row[0]))
			one := slices.Clone(row[1:])
			l.Tidy(one)
			for range n {
				rows = append(rows, one)
			}
		}
		return len(left) > 0, nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("reading table %q of %q: %w", l.Table, src.Name, err)
	case len(left) > 0:
		return fmt.Errorf("table %q of %q: rows that were just read are gone: another process writes to it", l.Table, src.Name)
	}
	return write.Insert(ctx, r, l, rows)
}
