package undo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
)

// compareAll compares every row that was copied with its source, and refuses what
// blocks removing them. In a table with the expected sum, no single row needs to
// be compared. If rows were removed already, which resumed tells, it only looks
// for rows that reference them.
func (u *undo) compareAll(ctx context.Context, resumed bool) error {
	found, err := u.readCopied(ctx, resumed)
	if err != nil {
		return err
	}
	if resumed {
		return u.compareTables(ctx, nil, nil)
	}
	planned := make(map[string]bool) // tables that are exactly as the merge left them
	for i := range u.Plan.Tables {
		t := &u.Plan.Tables[i]
		want := rowio.Content{Rows: t.Target.Rows, Sum: t.Target.After}
		for _, c := range found[i][1:] {
			want.Rows += c.Rows
			want.Sum = want.Sum.Add(c.After)
		}
		if t.Combine != nil {
			want = t.Merged()
		}
		planned[t.Name] = found[i][0].Rows == want.Rows && found[i][0].Sum == want.Sum
	}
	return u.compareTables(ctx, found, planned)
}

// readCopied reads and sums up the rows of the target, unless some were removed
// already, and those of the sources that were copied, which must be as they were then:
// by table, the target first. It notes what is to be removed.
func (u *undo) readCopied(ctx context.Context, resumed bool) ([][]rowio.Content, error) {
	from, total := plan.OfTarget, prove.OwnRows(u.Run)+2*u.Plan.Rows()
	if resumed {
		from, total = 0, u.Plan.Rows()
	}
	u.Step(total)
	found := make([][]rowio.Content, len(u.Plan.Tables))
	u.copied = make(map[plan.Part]*cameRows)
	for i := range found {
		found[i] = make([]rowio.Content, 1+len(u.Plan.Sources))
	}
	var mu sync.Mutex
	err := u.InParallel(ctx, job.Reading, u.Parts(from, plan.Divided), func(ctx context.Context, w *job.Run, p plan.Part) error {
		l, on := w.Layouts[w.Plan.Tables[p.Table].Name], w.Target
		if p.Source != plan.OfTarget {
			on = w.Sources[p.Source]
		}
		return w.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.Table, on.Name), func(soft context.Context) (err error) {
			var c rowio.Content
			var came *cameRows
			switch {
			case p.Source != plan.OfTarget && w.Plan.Tables[p.Table].Combine != nil: // see [step.Change.CompareTable]
			case p.Source == plan.OfTarget:
				c, err = rowio.Contents(soft, on, l, rowio.All, nil, nil, prove.BetweenPages(ctx, w, ledger.StepCompare, on, l))
			case !l.Multiset():
				came, c, err = u.stretchesOf(ctx, soft, w, on, l, p)
			case !resumed:
				c, err = u.multisetOf(ctx, soft, w, on, l, p)
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			f := &found[p.Table][1+p.Source]
			f.Rows, f.Sum, f.After = f.Rows+c.Rows, f.Sum.Add(c.Sum), f.After.Add(c.After)
			u.copied[p] = came
			return nil
		})
	})
	return found, err
}

// multisetOf reads the rows of a source that were copied to a table without a key.
// They must be as they were then.
func (u *undo) multisetOf(ctx, soft context.Context, w *job.Run, src *rowio.Connection, l *rowio.Layout, p plan.Part) (c rowio.Content, err error) {
	was, err := w.CheckpointOf(soft, ledger.StepCopy, p)
	if err != nil {
		return c, err
	}
	c, err = rowio.Contents(soft, src, l, was.Rows, w.Changes.Of(src.Name, l), nil, prove.BetweenPages(ctx, w, ledger.StepCompare, src, l))
	if err == nil && (c.Rows != was.Rows || c.Sum != was.Sum) {
		err = &ledger.ChangedError{Database: src.Name, Table: l.Table, Rows: c.Rows, Want: was.Rows, Undo: true}
	}
	return c, err
}

func (u *undo) compareTables(ctx context.Context, found [][]rowio.Content, planned map[string]bool) error {
	for i := range u.Plan.Tables {
		before := u.Reasons
		err := u.RetryCounted(ctx, fmt.Sprintf("comparing table %q", u.Plan.Tables[i].Name), func(soft context.Context) error {
			u.Reasons = before
			var copied []rowio.Content
			if found != nil {
				copied = found[i][1:]
			}
			return u.compareTable(ctx, soft, i, copied, planned)
		})
		if err != nil {
			return err
		}
	}
	before := u.Reasons
	return u.Retry(ctx, "looking for rows that reference rows that came", func(soft context.Context) error {
		u.Reasons = before
		return u.declaredStrangers(ctx, soft, planned)
	})
}

// compareTable compares the copied rows of one table, of each source as many as
// copied says, unless all is as planned; and looks for rows that reference them
// and did not come with them.
func (u *undo) compareTable(ctx, soft context.Context, table int, copied []rowio.Content, planned map[string]bool) error {
	t, l := &u.Plan.Tables[table], u.Layouts[u.Plan.Tables[table].Name]
	done := *u.done // which stays as it is until the table is compared
	if l.Multiset() && copied != nil && !planned[t.Name] {
		gone, err := u.Gone(soft, table)
		if err != nil {
			return err
		}
		done.Missing += gone
	}
	differs := func(d *evidence.Difference) {
		if d.Missing {
			done.Missing++
		} else {
			done.Changed++
		}
		if len(done.Samples) < rowio.MaxSamples {
			done.Samples = append(done.Samples, *d)
		}
	}
	for _, c := range all.Changes() {
		if copied == nil || c.CompareTable == nil {
			continue
		}
		if err := c.CompareTable(ctx, soft, u.Undoing, table, differs); err != nil {
			return err
		}
	}
	for j := range copied {
		if planned[t.Name] || l.Multiset() || t.Combine != nil {
			break
		}
		came, err := u.CheckpointsOf(soft, ledger.StepCopy, table, j)
		if err != nil {
			return err
		}
		for _, c := range came {
			err := prove.Compare(u.Run, ctx, soft, j, l, c.Begin, c.Rows, func(d *evidence.Difference, _, _ []any) error {
				differs(d)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if changed, missing := done.Changed-u.done.Changed, done.Missing-u.done.Missing; changed+missing > 0 && !u.Force {
		u.Refuse(t.Name, "%s changed and %s gone since they were copied: what was done with them would be lost; -force removes them still",
			printable.Count(changed, "row was", "rows were"), printable.Count(missing, "is", "are"))
	}
	for _, from := range slices.Sorted(maps.Keys(u.References)) {
		for _, ref := range slices.SortedFunc(slices.Values(u.References[from]), func(a, b catalog.Reference) int { return slices.Compare(a.Columns, b.Columns) }) {
			if ref.ToTable != t.Name || planned[from] {
				continue
			}
			if u.Plan.Multiset(from) {
				if planned != nil { // else it was looked at when the undo began
					u.Refuse(t.Name, "%s has no key and is not as the merge left it, so the rows that came cannot be identified, and its other rows may reference rows that came: restore its rows, or the database from its backup", from)
				}
				continue
			}
			found, err := u.strangers(ctx, soft, table, from, ref)
			if err != nil {
				return err
			}
			if found.Rows > 0 {
				verb := "reference"
				if found.Rows == 1 {
					verb = "references"
				}
				u.Refuse(t.Name, "%s of %s (%s) that did not come with the merge %s rows that did: %s; let them reference other rows or remove them, then run undo again",
					printable.Count(found.Rows, "row", "rows"), from, strings.Join(ref.Columns, ", "), verb, found)
			}
		}
	}
	*u.done = done
	return nil
}
