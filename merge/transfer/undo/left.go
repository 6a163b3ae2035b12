package undo

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
)

// What an undo leaves in the target is in this file. One reading of every table proves that it holds
// the rows that the plan found, and no others. Only a table that does not is looked at row by row.

// compareWithBefore finds out whether the target has the rows that it had before, and returns a
// [*evidence.NotUndoneError] if something of the merge is left.
func (u *undo) compareWithBefore(ctx context.Context) error {
	differing, err := unlike(ctx, u.Run)
	if err != nil {
		return err
	}
	for i := range differing {
		d := &differing[i]
		table := slices.IndexFunc(u.Plan.Tables, func(t plan.Table) bool { return t.Name == d.Table })
		doing := fmt.Sprintf("looking for rows of the merge in table %q", d.Table)
		err := u.RetryCounted(ctx, doing, func(soft context.Context) error {
			found := evidence.UndoneTable{Table: d.Table, Rows: d.Rows, Before: d.Before}
			defer func() { *d = found }()
			if table >= 0 {
				if err := u.lookInto(ctx, soft, table, &found); err != nil {
					return err
				}
			}
			return u.lookIntoChanges(ctx, soft, &found)
		})
		if err != nil {
			return err
		}
	}
	u.done.Tables, u.done.SameAsBefore = differing, len(differing) == 0
	left := slices.DeleteFunc(slices.Clone(differing), func(t evidence.UndoneTable) bool { return !t.Left() })
	if len(left) == 0 {
		return nil
	}
	err = u.Retry(ctx, "noting what is left", func(ctx context.Context) error { return u.doAgain(ctx, left) })
	if err != nil {
		return err
	}
	return &evidence.NotUndoneError{Database: u.Target.Name, Tables: left}
}

// unlike reads all tables of the target, and returns those that do not hold what they held when the
// merge was planned. It counts the rows in another way too: in the order of a key that its database
// sorts in another way than it compares, a reading misses rows.
func unlike(ctx context.Context, r *job.Run) (differing []evidence.UndoneTable, err error) {
	r.Step(prove.OwnRows(r))
	var own []plan.Part
	for i := range r.Plan.Tables {
		own = append(own, plan.Part{Table: i, Source: plan.OfTarget})
	}
	found := make([]*evidence.UndoneTable, len(own))
	err = r.InParallel(ctx, job.Reading, own, func(ctx context.Context, w *job.Run, p plan.Part) error {
		t := &w.Plan.Tables[p.Table]
		return w.RetryCounted(ctx, fmt.Sprintf("reading the rest of table %q", t.Name), func(soft context.Context) error {
			l := w.Layouts[t.Name]
			now, err := rowio.Contents(soft, w.Target, l, rowio.All, nil, nil, prove.BetweenPages(ctx, w, ledger.StepVerify, w.Target, l))
			if err != nil {
				return err
			}
			rows, err := w.Count(soft, t.Name)
			if err == nil && (now.Rows != t.Target.Rows || now.Sum != t.Target.Sum || rows != now.Rows) {
				found[p.Table] = &evidence.UndoneTable{Table: t.Name, Rows: rows, Before: t.Target.Rows}
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		if t != nil {
			differing = append(differing, *t)
		}
	}
	for _, c := range all.Changes() {
		if c.Unlike == nil {
			continue
		}
		more, err := c.Unlike(ctx, r)
		if err != nil {
			return nil, err
		}
		differing = append(differing, more...)
	}
	return differing, nil
}

// lookInto looks for what the merge left in a table.
func (u *undo) lookInto(ctx, soft context.Context, table int, found *evidence.UndoneTable) error {
	t := &u.Plan.Tables[table]
	if u.Layouts[t.Name].Multiset() {
		return u.lookIntoMultiset(soft, table, found)
	}
	for source := range u.Sources {
		if err := u.lookForMerged(ctx, soft, table, source, found); err != nil {
			return err
		}
	}
	return nil
}

// freshOf are those of the rows of a source, as they came, that are rows of their own in the target.
func (u *undo) freshOf(ctx context.Context, table, source int, rows [][]any) (own [][]any, err error) {
	for _, c := range all.Changes() {
		if c.Fresh != nil && err == nil {
			rows, err = c.Fresh(ctx, u.Run, table, source, rows)
		}
	}
	return rows, err
}

// lookIntoChanges looks for what the changes left in a table.
func (u *undo) lookIntoChanges(ctx, soft context.Context, found *evidence.UndoneTable) error {
	for _, c := range all.Changes() {
		if c.Left == nil {
			continue
		}
		if err := c.Left(ctx, soft, u.Undoing, found); err != nil {
			return err
		}
	}
	return nil
}

// lookForMerged looks for rows that came from a source, by their exact keys.
func (u *undo) lookForMerged(ctx, soft context.Context, table, source int, found *evidence.UndoneTable) error {
	t, src := &u.Plan.Tables[table], u.Sources[source]
	l := u.Layouts[t.Name]
	copied, err := u.CheckpointsOf(soft, ledger.StepCopy, table, source)
	if err != nil {
		return err
	}
	came := rowio.Total(copied, func(c **ledger.Checkpoint) int64 { return (*c).Rows })
	change := u.Changes.Of(src.Name, l)
	look := func(rows [][]any) error {
		err := u.Between(ctx)
		if err == nil {
			err = change.Rows(rows)
		}
		if err == nil {
			rows, err = u.freshOf(soft, table, source, rows)
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		there, err := rowio.Find(soft, u.Target, l, l.SelectEqual(len(rows)), rows)
		for i, row := range there {
			if row != nil {
				key, _ := rowio.EncodeKey(l.KeyOf(rows[i])) // has been read before
				found.Add(&found.Merged, evidence.Difference{Source: src.Name, Table: t.Name, Key: key, Left: true})
			}
		}
		return err
	}
	if came == t.Sources[source].Rows { // all came: they need no order
		return rowio.InChunks(soft, src, l, look)
	}
	for _, c := range copied {
		after := c.Begin
		for left := c.Rows; left > 0; {
			p, err := rowio.ReadPage(soft, src, l, after, int(min(left, int64(l.Dialect.Most(len(l.Key))))), nil)
			if err != nil || len(p.Rows) == 0 {
				return err
			}
			left, after = left-int64(len(p.Rows)), l.KeyOf(p.Rows[len(p.Rows)-1])
			if err := look(p.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookIntoMultiset looks for rows that came to a table without a key: more of them than there were
// when those of the merge were removed.
func (u *undo) lookIntoMultiset(ctx context.Context, table int, found *evidence.UndoneTable) error {
	t := &u.Plan.Tables[table]
	came, err := u.CameTo(ctx, table, len(u.Sources))
	if err != nil {
		return err
	}
	var gone, own int64
	for i := range u.Sources {
		removed, err := u.CheckpointOf(ctx, ledger.StepUndo, plan.Part{Table: table, Source: i})
		if err != nil {
			return err
		}
		if removed.Saved {
			lost, equal := multiset(removed)
			gone, own = gone+lost, equal
		}
	}
	there, err := rowio.Identities(ctx, u.Target, u.Layouts[t.Name], nil, came)
	if err != nil {
		return err
	}
	found.Merged = max(0, rowio.Total64(there)-own)
	if found.Merged == 0 && gone > 0 && found.Rows > found.Before {
		found.Reason = fmt.Sprintf("it has no key, %s changed or removed since, and it has %s more than when the merge "+
			"was planned, which may be these: remove them or take them elsewhere",
			printable.Count(gone, "row that came was", "rows that came were"),
			printable.Count(found.Rows-found.Before, "row", "rows"))
	} else if found.Merged > 0 {
		found.Reason = "it has no key: remove them"
	}
	return nil
}

// multiset are the numbers of a checkpoint of the removal from a table without a key: how many rows
// that came were gone, and how many equal to some that came were there afterwards.
func multiset(c *ledger.Checkpoint) (gone, equal int64) {
	if len(c.After) == 2 {
		gone, _ = c.After[0].(int64)
		equal, _ = c.After[1].(int64)
	}
	return gone, equal
}

// doAgain lets the next call remove and restore once more what it can in these tables.
func (u *undo) doAgain(ctx context.Context, tables []evidence.UndoneTable) error {
	return u.Target.Tx(ctx, func() error {
		if err := u.Manifest.HoldState(ctx, ledger.StateUndoing, ledger.Shared); err != nil {
			return err
		}
		for _, t := range tables {
			if u.Plan.Multiset(t.Table) || u.Plan.Reset(t.Table) != nil {
				continue
			}
			_, err := u.Target.Exec(ctx, "again",
				"DELETE FROM "+ledger.ProgressTable+" WHERE merge_id = ? AND tab = ? AND step IN (?, ?)", false,
				u.Plan.ID, t.Table, ledger.StepUndo, ledger.StepRestore)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
