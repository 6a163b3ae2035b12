package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// combined finds what becomes of rows of a source a second time, by the target's rows as they are
// kept; and what the target has now, by a query for so many keys.
func (u *undo) combined(ctx context.Context, c *combiner, source int, rows [][]any, query func(n int) string) (groups []*group, want, there [][]any, err error) {
	kept := c.l.of(c.of.Kept)
	groups, err = c.groups(ctx, source, rows, func(ctx context.Context, rows [][]any) ([][]any, error) {
		return lookUp(ctx, u.target, kept, kept.selectEqual, rows)
	})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, g := range groups {
		row, err := c.result(g)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("table %q: row %s: %w", c.l.table, c.l.keyText(g.came[0]), err)
		}
		want = append(want, row)
	}
	there, err = lookUp(ctx, u.target, c.l, query, want)
	return groups, want, there, err
}

// worldOf names the database that a combined row is from: the target, if it had a row with that
// key, or the first source that had one.
func (u *undo) worldOf(g *group, source *connection) string {
	if g.own != nil {
		return u.target.Name
	}
	return source.Name
}

// compareKept refuses tables that were combined, if the target does not keep their old rows any
// more.
func (u *undo) compareKept(ctx context.Context) (reasons []Refusal, err error) {
	err = u.retry(ctx, "looking for the rows that the target keeps", func(soft context.Context) error {
		reasons = nil
		there, err := u.manifest.tables(soft)
		if err != nil {
			return err
		}
		for _, table := range u.plan.combines() {
			t := &u.plan.Tables[table]
			if slices.Contains(there, t.Combine.Kept) {
				continue
			}
			needed := false
			for source := range u.plan.Sources {
				copied, err := u.checkpointOf(soft, StepCopy, part{table: table, source: source})
				if err != nil {
					return err
				}
				separated, err := u.checkpointOf(soft, StepUndo, part{table: table, source: source})
				if err != nil {
					return err
				}
				needed = needed || copied.rows > 0 && !separated.finished
			}
			if needed {
				reasons = append(reasons, u.keptIsGone(t.Name, t.Combine.Kept, t.Combine.Changed))
			}
		}
		return nil
	})
	return reasons, err
}

// keptIsGone says that a table of the merge with old rows was dropped, and what to do.
func (u *undo) keptIsGone(table, kept string, rows int64) Refusal {
	return Refusal{Source: u.target.Name, Table: table, Reason: fmt.Sprintf("the table %s is missing: it kept %s of %s from before the merge, so undo cannot put them back; "+
		"restore this database from its backup of before the merge, then run undo again: it says how to lift the fences of the sources", kept, printable.Count(rows, "row", "rows"), table)}
}

// compareCombined compares the rows that were combined, of as many of each source as were, with
// what became of them.
func (u *undo) compareCombined(ctx, soft context.Context, table int, differs func(d *Difference)) error {
	c := u.combiner(table)
	for source, src := range u.sources {
		was, err := u.checkpointOf(soft, StepCopy, part{table: table, source: source})
		if err != nil {
			return err
		}
		if was.rows == 0 {
			continue
		}
		next, stop := pages(soft, src, c.l, nil, func() int { return 2000 }, was.rows, true)
		defer stop()
		var found Content
		for last := false; !last; {
			if err := u.between(ctx); err != nil {
				return err
			}
			page, err := next()
			if err != nil {
				return err
			}
			found.Rows, found.Sum, last = found.Rows+int64(len(page.rows)), found.Sum.Add(page.sum), page.last
			groups, want, there, err := u.combined(soft, c, source, page.rows, c.l.selectEqual)
			if err != nil {
				return err
			}
			for i := range want {
				if groups[i].own != nil && !c.writes() {
					continue
				}
				if d := c.l.difference(want[i], there[i]); d != nil {
					d.Source = u.worldOf(groups[i], src)
					differs(d)
				}
			}
		}
		if found.Rows != was.rows || found.Sum != was.sum {
			return &ChangedError{Database: src.Name, Table: c.l.table, Rows: found.Rows, Want: was.rows, Undo: true}
		}
	}
	return nil
}

// separate gives the target its rows back that were combined with others, and removes those
// that came.
func (u *undo) separate(ctx context.Context) error {
	for _, table := range u.plan.combines() {
		for source := range u.plan.Sources {
			if err := u.separateSource(ctx, table, source); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *undo) separateSource(ctx context.Context, table, source int) error {
	src, c, p := u.sources[source], u.combiner(table), part{table: table, source: source}
	return u.retryCounted(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, c.l.table), func(soft context.Context) error {
		was, err := u.checkpointOf(soft, StepCopy, p)
		if err != nil || was.rows == 0 {
			return err
		}
		before, err := u.checkpointOf(soft, StepUndo, p)
		if err != nil || before.finished {
			return err
		}
		u.resumed(StepUndo, src.Name, c.l.table, before.rows)
		err = u.batches(ctx, soft, src, c.l, before, expected{rows: was.rows, sum: was.sum, part: true}, func(rows [][]any) (int64, error) {
			return u.separateRows(soft, c, source, rows)
		})
		if changed, is := errors.AsType[*ChangedError](err); is {
			changed.Undo = true
		}
		return err
	})
}

func (u *undo) separateRows(ctx context.Context, c *combiner, source int, rows [][]any) (removed int64, err error) {
	groups, want, there, err := u.combined(ctx, c, source, rows, func(n int) string { return c.l.lock("("+c.l.equal(n)+")", "") })
	if err != nil {
		return 0, err
	}
	var back, gone, came [][]any
	for i, g := range groups {
		if g.own != nil && !c.writes() {
			continue // nothing was written over it
		}
		if g.own != nil && there[i] != nil && c.l.difference(g.own, there[i]) == nil {
			continue // an earlier call put it back
		}
		if d := c.l.difference(want[i], there[i]); d != nil && !u.force && (!d.Missing || g.own != nil) {
			d.Source = u.worldOf(g, u.sources[source])
			return 0, fmt.Errorf("%s: it was changed while the undo ran; stop the process that writes there, then force the undo or correct the row", d)
		}
		switch {
		case g.own != nil && there[i] != nil:
			back = append(back, want[i])
		case g.own != nil:
			gone = append(gone, want[i])
		case there[i] != nil:
			came = append(came, want[i])
		}
	}
	if removed, err = deleteRows(ctx, u.target, c.l, came, false); err != nil {
		return 0, err
	}
	for _, put := range []struct {
		rows [][]any
		how  func(n int) string
	}{{back, c.putBack}, {gone, c.putAgain}} {
		for some := range slices.Chunk(put.rows, c.l.dialect.most(len(c.l.key))) {
			query := put.how(len(some))
			if query == "" {
				continue
			}
			_, err := u.target.exec(ctx, "restore", query, false, c.l.boundOf(some)...)
			if errors.Is(err, sqldb.ErrDuplicate) {
				return 0, fmt.Errorf("table %q: a row cannot get its old values back, because a new row has a unique one of them: give the new row another value or remove it, then run undo again: %v", c.l.table, err)
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
func (c *combiner) putBack(n int) string {
	d := c.l.dialect
	var set, match, one []string
	for i, name := range c.l.columns {
		quoted := d.Quote(name)
		if slices.Contains(c.l.key, i) {
			continue
		}
		if d.mysql() {
			set = append(set, "t."+quoted+" = k."+quoted)
		} else {
			set = append(set, quoted+" = k."+quoted)
		}
	}
	for i, name := range c.l.keyColumns() {
		match, one = append(match, "t."+d.Quote(name)+" = k."+d.Quote(name)), append(one, "k."+c.l.is(i))
	}
	if len(set) == 0 {
		return ""
	}
	keys := "(" + strings.Join(one, " AND ") + ")"
	where := " WHERE " + strings.Join(match, " AND ") + " AND (" + strings.Repeat(keys+" OR ", n-1) + keys + ")"
	if d.mysql() {
		return "UPDATE " + d.Quote(c.l.table) + " AS t JOIN " + d.Quote(c.of.Kept) + " AS k SET " + strings.Join(set, ", ") + where
	}
	return "UPDATE " + d.Quote(c.l.table) + " AS t SET " + strings.Join(set, ", ") + " FROM " + d.Quote(c.of.Kept) + " AS k" + where
}

// putAgain is the statement that inserts rows with n keys as they are kept.
func (c *combiner) putAgain(n int) string {
	return c.l.insertFrom("INSERT", c.of.Kept) + " WHERE " + c.l.equal(n)
}

// fresh are those of the rows of a source, as they came, that are rows of their own in the
// target: an undo removes them, and they are not those of an earlier source.
func (u *undo) fresh(ctx context.Context, table, source int, rows [][]any) ([][]any, error) {
	t := &u.plan.Tables[table]
	if t.Combine == nil {
		return rows, nil
	}
	there, err := u.manifest.tables(ctx)
	if err != nil || !slices.Contains(there, t.Combine.Kept) {
		return nil, err // all was put back
	}
	c := u.combiner(table)
	kept := c.l.of(t.Combine.Kept)
	taken, err := lookUp(ctx, u.target, kept, kept.selectEqual, rows)
	for i := 0; err == nil && i < source; i++ {
		var earlier [][]any
		earlier, err = c.ofSource(ctx, i, rows)
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

// dropKept removes the tables that kept rows, when all were put back.
func (u *undo) dropKept(ctx context.Context) error {
	tables := u.plan.combines()
	if len(tables) == 0 {
		return nil
	}
	return u.retry(ctx, "removing the tables that kept rows", func(ctx context.Context) error {
		return u.during(ctx, StateUndoing, func() error {
			for _, table := range tables {
				if _, err := u.target.exec(ctx, "drop", "DROP TABLE IF EXISTS "+u.target.dialect().Quote(u.plan.Tables[table].Combine.Kept), false); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
