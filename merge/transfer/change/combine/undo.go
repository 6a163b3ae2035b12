package combine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/transfer/write"
)

// combined finds what becomes of rows of a source a second time, by the target's rows as they are
// kept; and what the target has now, by a query for so many keys.
func combined(ctx context.Context, u *step.Undoing, c *Combiner, source int, rows [][]any, query func(n int) string) (groups []*Group, want, there [][]any, err error) {
	kept := c.L.Of(c.Of.Kept)
	groups, err = c.Groups(ctx, source, rows, func(ctx context.Context, rows [][]any) ([][]any, error) {
		return lookUp(ctx, u.Target, kept, kept.SelectEqual, rows)
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, g := range groups {
		row, err := c.Result(g)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("table %q: row %s: %w", c.L.Table, c.L.KeyText(g.Came[0]), err)
		}
		want = append(want, row)
	}
	there, err = lookUp(ctx, u.Target, c.L, query, want)
	return groups, want, there, err
}

// worldOf names the database that a combined row is from: the target, if it had a row with that
// key, or the first source that had one.
func worldOf(u *step.Undoing, g *Group, source *rowio.Connection) string {
	if g.Own != nil {
		return u.Target.Name
	}
	return source.Name
}

// lookForKept refuses tables that were combined, if the target does not keep their old rows any
// more.
func lookForKept(ctx context.Context, u *step.Undoing) error {
	before := u.Reasons
	return u.Retry(ctx, "looking for the rows that the target keeps", func(soft context.Context) error {
		u.Reasons = before
		there, err := u.Manifest.Tables(soft)
		if err != nil {
			return err
		}
		for _, table := range u.Plan.Combines() {
			t := &u.Plan.Tables[table]
			if slices.Contains(there, t.Combine.Kept) {
				continue
			}
			needed := false
			for source := range u.Plan.Sources {
				copied, err := u.CheckpointOf(soft, ledger.StepCopy, plan.Part{Table: table, Source: source})
				if err != nil {
					return err
				}
				separated, err := u.CheckpointOf(soft, ledger.StepUndo, plan.Part{Table: table, Source: source})
				if err != nil {
					return err
				}
				needed = needed || copied.Rows > 0 && !separated.Finished
			}
			if needed {
				u.KeptIsGone(t.Name, t.Combine.Kept, t.Combine.Changed)
			}
		}
		return nil
	})
}

// compareTable compares the rows that were combined, of as many of each source as were, with
// what became of them.
func compareTable(ctx, soft context.Context, u *step.Undoing, table int, differs func(d *evidence.Difference)) error {
	if u.Plan.Tables[table].Combine == nil {
		return nil
	}
	c := combinerOf(u.Run, table)
	for source, src := range u.Sources {
		was, err := u.CheckpointOf(soft, ledger.StepCopy, plan.Part{Table: table, Source: source})
		if err != nil {
			return err
		}
		if was.Rows == 0 {
			continue
		}
		next, stop := rowio.Pages(soft, src, c.L, nil, func() int { return 2000 }, was.Rows, true)
		defer stop()
		var found rowio.Content
		for last := false; !last; {
			if err := u.Between(ctx); err != nil {
				return err
			}
			page, err := next()
			if err != nil {
				return err
			}
			found.Rows, found.Sum, last = found.Rows+int64(len(page.Rows)), found.Sum.Add(page.Sum), page.Last
			groups, want, there, err := combined(soft, u, c, source, page.Rows, c.L.SelectEqual)
			if err != nil {
				return err
			}
			for i := range want {
				if groups[i].Own != nil && !c.Writes() {
					continue
				}
				if d := evidence.DifferenceOf(c.L, want[i], there[i]); d != nil {
					d.Source = worldOf(u, groups[i], src)
					differs(d)
				}
			}
		}
		if found.Rows != was.Rows || found.Sum != was.Sum {
			return &ledger.ChangedError{Database: src.Name, Table: c.L.Table, Rows: found.Rows, Want: was.Rows, Undo: true}
		}
	}
	return nil
}

// separate gives the target its rows back that were combined with others, and removes those
// that came.
func separate(ctx context.Context, u *step.Undoing) error {
	for _, table := range u.Plan.Combines() {
		for source := range u.Plan.Sources {
			if err := separateSource(ctx, u, table, source); err != nil {
				return err
			}
		}
	}
	return nil
}

func separateSource(ctx context.Context, u *step.Undoing, table, source int) error {
	src, c, p := u.Sources[source], combinerOf(u.Run, table), plan.Part{Table: table, Source: source}
	return u.RetryCounted(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, c.L.Table), func(soft context.Context) error {
		was, err := u.CheckpointOf(soft, ledger.StepCopy, p)
		if err != nil || was.Rows == 0 {
			return err
		}
		before, err := u.CheckpointOf(soft, ledger.StepUndo, p)
		if err != nil || before.Finished {
			return err
		}
		u.Resumed(ledger.StepUndo, src.Name, c.L.Table, before.Rows)
		err = write.Batches(u.Run, ctx, soft, src, c.L, before, write.Expected{Rows: was.Rows, Sum: was.Sum, Part: true}, func(rows [][]any) (int64, error) {
			return separateRows(soft, u, c, source, rows)
		})
		if changed, is := errors.AsType[*ledger.ChangedError](err); is {
			changed.Undo = true
		}
		return err
	})
}

func separateRows(ctx context.Context, u *step.Undoing, c *Combiner, source int, rows [][]any) (removed int64, err error) {
	groups, want, there, err := combined(ctx, u, c, source, rows, func(n int) string { return c.L.Lock("("+c.L.Equal(n)+")", "") })
	if err != nil {
		return 0, err
	}
	var back, gone, came [][]any
	for i, g := range groups {
		if g.Own != nil && !c.Writes() {
			continue // nothing was written over it
		}
		if g.Own != nil && there[i] != nil && evidence.DifferenceOf(c.L, g.Own, there[i]) == nil {
			continue // an earlier call put it back
		}
		if d := evidence.DifferenceOf(c.L, want[i], there[i]); d != nil && !u.Force && (!d.Missing || g.Own != nil) {
			d.Source = worldOf(u, g, u.Sources[source])
			return 0, fmt.Errorf("%s: it was changed while the undo ran; stop the process that writes there, then force the undo or correct the row", d)
		}
		switch {
		case g.Own != nil && there[i] != nil:
			back = append(back, want[i])
		case g.Own != nil:
			gone = append(gone, want[i])
		case there[i] != nil:
			came = append(came, want[i])
		}
	}
	if removed, err = write.DeleteRows(ctx, u.Target, c.L, came, false); err != nil {
		return 0, err
	}
	for _, put := range []struct {
		rows [][]any
		how  func(n int) string
	}{{back, func(n int) string { return putBack(c, n) }}, {gone, func(n int) string { return putAgain(c, n) }}} {
		for some := range slices.Chunk(put.rows, c.L.Dialect.Most(len(c.L.Key))) {
			query := put.how(len(some))
			if query == "" {
				continue
			}
			_, err := u.Target.Exec(ctx, "restore", query, false, c.L.BoundOf(some)...)
			if errors.Is(err, sqldb.ErrDuplicate) {
				return 0, fmt.Errorf("table %q: a row cannot get its old values back, because a new row has a unique one of them: give the new row another value or remove it, then run undo again: %v", c.L.Table, err)
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return removed + int64(len(back)+len(gone)), nil
}

// putBack is the statement that gives rows of the target with n keys the values that are kept;
// "" if there are none beside the key. The database itself copies them.
func putBack(c *Combiner, n int) string {
	d := c.L.Dialect
	var set, match, one []string
	for i, name := range c.L.Columns {
		quoted := d.Quote(name)
		if slices.Contains(c.L.Key, i) {
			continue
		}
		if d.MySQL() {
			set = append(set, "t."+quoted+" = k."+quoted)
		} else {
			set = append(set, quoted+" = k."+quoted)
		}
	}
	for i, name := range c.L.KeyColumns() {
		match, one = append(match, "t."+d.Quote(name)+" = k."+d.Quote(name)), append(one, "k."+c.L.KeyCondition(i))
	}
	if len(set) == 0 {
		return ""
	}
	keys := "(" + strings.Join(one, " AND ") + ")"
	where := " WHERE " + strings.Join(match, " AND ") + " AND (" + strings.Repeat(keys+" OR ", n-1) + keys + ")"
	if d.MySQL() {
		return "UPDATE " + d.Quote(c.L.Table) + " AS t JOIN " + d.Quote(c.Of.Kept) + " AS k SET " + strings.Join(set, ", ") + where
	}
	return "UPDATE " + d.Quote(c.L.Table) + " AS t SET " + strings.Join(set, ", ") + " FROM " + d.Quote(c.Of.Kept) + " AS k" + where
}

// putAgain is the statement that inserts rows with n keys as they are kept.
func putAgain(c *Combiner, n int) string {
	return c.L.InsertFrom("INSERT", c.Of.Kept) + " WHERE " + c.L.Equal(n)
}

// fresh are those of the rows of a source, as they came, that are rows of their own in the
// target: an undo removes them, and they are not those of an earlier source.
func fresh(ctx context.Context, r *job.Run, table, source int, rows [][]any) ([][]any, error) {
	t := &r.Plan.Tables[table]
	if t.Combine == nil {
		return rows, nil
	}
	there, err := r.Manifest.Tables(ctx)
	if err != nil || !slices.Contains(there, t.Combine.Kept) {
		return nil, err // all was put back
	}
	c := combinerOf(r, table)
	kept := c.L.Of(t.Combine.Kept)
	taken, err := lookUp(ctx, r.Target, kept, kept.SelectEqual, rows)
	for i := 0; err == nil && i < source; i++ {
		var earlier [][]any
		earlier, err = c.OfSource(ctx, i, rows)
		for k := range earlier {
			if earlier[k] != nil {
				taken[k] = earlier[k]
			}
		}
	}
	var own [][]any
	for k := range taken {
		if taken[k] == nil {
			own = append(own, rows[k])
		}
	}
	return own, err
}

// drop removes the tables that kept rows, when all were put back.
func drop(ctx context.Context, r *job.Run) error {
	tables := r.Plan.Combines()
	if len(tables) == 0 {
		return nil
	}
	return r.RetryDuring(ctx, "removing the tables that kept rows", ledger.StateUndoing, func(ctx context.Context) error {
		for _, table := range tables {
			if _, err := r.Target.Exec(ctx, "drop", "DROP TABLE IF EXISTS "+r.Target.Dialect().Quote(r.Plan.Tables[table].Combine.Kept), false); err != nil {
				return err
			}
		}
		return nil
	})
}

// left looks for own rows that were combined with others and are not as they are kept.
func left(ctx, soft context.Context, u *step.Undoing, found *evidence.UndoneTable) error {
	table := slices.IndexFunc(u.Plan.Tables, func(t plan.Table) bool { return t.Name == found.Table })
	if table < 0 || u.Plan.Tables[table].Combine == nil {
		return nil
	}
	c := combinerOf(u.Run, table)
	there, err := u.Manifest.Tables(soft)
	if err != nil || !c.Writes() || !slices.Contains(there, c.Of.Kept) {
		return err // nothing was written over, or nothing was copied
	}
	reader := u.Reader()
	defer reader.Close()
	return rowio.InChunks(soft, reader, c.L.Of(c.Of.Kept), func(rows [][]any) error {
		if err := u.Between(ctx); err != nil {
			return err
		}
		now, err := rowio.Find(soft, u.Target, c.L, c.L.SelectEqual(len(rows)), rows)
		for i, row := range rows {
			if d := evidence.DifferenceOf(c.L, row, now[i]); err == nil && d != nil {
				d.Source = u.Target.Name
				found.Add(&found.Unrestored, *d)
			}
		}
		return err
	})
}
