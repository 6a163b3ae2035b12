package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// compareAll compares every row that was copied with its source, and returns what
// blocks removing them. In a table with the expected sum, no single row needs to
// be compared. If rows were removed already, which resumed tells, it only looks
// for rows that reference them.
func (u *undo) compareAll(ctx context.Context, resumed bool) (reasons []Refusal, err error) {
	found, err := u.readCopied(ctx, resumed)
	if err != nil {
		return nil, err
	}
	if resumed {
		return u.compareTables(ctx, nil, nil)
	}
	planned := make(map[string]bool) // tables that are exactly as the merge left them
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		want := Content{Rows: t.Target.Rows, Sum: t.Target.After}
		for _, c := range found[i][1:] {
			want.Rows += c.Rows
			want.Sum = want.Sum.Add(c.After)
		}
		if t.Combine != nil {
			want = t.merged()
		}
		planned[t.Name] = found[i][0].Rows == want.Rows && found[i][0].Sum == want.Sum
	}
	return u.compareTables(ctx, found, planned)
}

// readCopied reads and sums up the rows of the target, unless some were removed
// already, and those of the sources that were copied, which must be as they were then:
// by table, the target first. It notes what is to be removed.
func (u *undo) readCopied(ctx context.Context, resumed bool) ([][]Content, error) {
	from, total := ofTarget, u.ownRows()+2*u.plan.Rows()
	if resumed {
		from, total = 0, u.plan.Rows()
	}
	u.step(total)
	found := make([][]Content, len(u.plan.Tables))
	u.copied = make(map[part]*copied)
	for i := range found {
		found[i] = make([]Content, 1+len(u.plan.Sources))
	}
	var mu sync.Mutex
	err := u.inParallel(ctx, reading, u.parts(from, divided), func(ctx context.Context, w *run, p part) error {
		l, on := w.layouts[w.plan.Tables[p.table].Name], w.target
		if p.source != ofTarget {
			on = w.sources[p.source]
		}
		return w.retryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.table, on.Name), func(soft context.Context) (err error) {
			var c Content
			var came *copied
			switch {
			case p.source != ofTarget && w.plan.Tables[p.table].Combine != nil: // see compareCombined
			case p.source == ofTarget:
				c, err = contents(soft, on, l, all, nil, nil, w.betweenPages(ctx, StepCompare, on, l))
			case !l.multiset():
				came, c, err = u.stretchesOf(ctx, soft, w, on, l, p)
			case !resumed:
				c, err = u.multisetOf(ctx, soft, w, on, l, p)
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			f := &found[p.table][1+p.source]
			f.Rows, f.Sum, f.After = f.Rows+c.Rows, f.Sum.Add(c.Sum), f.After.Add(c.After)
			u.copied[p] = came
			return nil
		})
	})
	return found, err
}

// multisetOf reads the rows of a source that were copied to a table without a key.
// They must be as they were then.
func (u *undo) multisetOf(ctx, soft context.Context, w *run, src *connection, l *layout, p part) (c Content, err error) {
	was, err := w.checkpointOf(soft, StepCopy, p)
	if err != nil {
		return c, err
	}
	c, err = contents(soft, src, l, was.rows, w.changes.of(src.Name, l), nil, w.betweenPages(ctx, StepCompare, src, l))
	if err == nil && (c.Rows != was.rows || c.Sum != was.sum) {
		err = &ChangedError{Database: src.Name, Table: l.table, Rows: c.Rows, Want: was.rows, Undo: true}
	}
	return c, err
}

func (u *undo) compareTables(ctx context.Context, found [][]Content, planned map[string]bool) (reasons []Refusal, err error) {
	for i := range u.plan.Tables {
		err := u.retryCounted(ctx, fmt.Sprintf("comparing table %q", u.plan.Tables[i].Name), func(soft context.Context) error {
			var copied []Content
			if found != nil {
				copied = found[i][1:]
			}
			more, err := u.compareTable(ctx, soft, i, copied, planned)
			if err == nil {
				reasons = append(reasons, more...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = u.retry(ctx, "looking for rows that reference rows that came", func(soft context.Context) error {
		more, err := u.declaredStrangers(ctx, soft, planned)
		if err == nil {
			reasons = append(reasons, more...)
		}
		return err
	})
	return reasons, err
}

// compareTable compares the copied rows of one table, of each source as many as
// copied says, unless all is as planned; and looks for rows that reference them
// and did not come with them.
func (u *undo) compareTable(ctx, soft context.Context, table int, copied []Content, planned map[string]bool) (reasons []Refusal, err error) {
	t, l := &u.plan.Tables[table], u.layouts[u.plan.Tables[table].Name]
	refuse := func(format string, args ...any) {
		reasons = append(reasons, Refusal{Source: u.target.Name, Table: t.Name, Reason: fmt.Sprintf(format, args...)})
	}
	done := *u.done // which stays as it is until the table is compared
	if l.multiset() && copied != nil && !planned[t.Name] {
		gone, err := u.gone(soft, table)
		if err != nil {
			return nil, err
		}
		done.Missing += gone
	}
	differs := func(d *Difference) {
		if d.Missing {
			done.Missing++
		} else {
			done.Changed++
		}
		if len(done.Samples) < maxSamples {
			done.Samples = append(done.Samples, *d)
		}
	}
	if t.Combine != nil && copied != nil {
		if err := u.compareCombined(ctx, soft, table, differs); err != nil {
			return nil, err
		}
	}
	for j := range copied {
		if planned[t.Name] || l.multiset() || t.Combine != nil {
			break
		}
		came, err := u.checkpointsOf(soft, StepCopy, table, j)
		if err != nil {
			return nil, err
		}
		for _, c := range came {
			err := u.compare(ctx, soft, j, l, c.begin, c.rows, func(d *Difference, _, _ []any) error {
				differs(d)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if changed, missing := done.Changed-u.done.Changed, done.Missing-u.done.Missing; changed+missing > 0 && !u.force {
		refuse("%s changed and %s gone since they were copied: what was done with them would be lost; to remove them still, force it",
			printable.Count(changed, "row was", "rows were"), printable.Count(missing, "is", "are"))
	}
	for _, from := range slices.Sorted(maps.Keys(u.references)) {
		for _, ref := range slices.SortedFunc(slices.Values(u.references[from]), func(a, b merge.Reference) int { return slices.Compare(a.Columns, b.Columns) }) {
			if ref.ToTable != t.Name || planned[from] {
				continue
			}
			if u.plan.multiset(from) {
				if planned != nil { // else it was looked at when the undo began
					refuse("%s has no key and is not as the merge left it, so the rows that came cannot be identified, and its other rows may reference rows that came: restore its rows, or the database from its backup", from)
				}
				continue
			}
			found, err := u.strangers(ctx, soft, table, from, ref)
			if err != nil {
				return nil, err
			}
			if found.rows > 0 {
				verb := "reference"
				if found.rows == 1 {
					verb = "references"
				}
				refuse("%s of %s (%s) that did not come with the merge %s rows that did: %s; let them reference other rows or remove them, then run undo again",
					printable.Count(found.rows, "row", "rows"), from, strings.Join(ref.Columns, ", "), verb, found)
			}
		}
	}
	*u.done = done
	return reasons, nil
}
