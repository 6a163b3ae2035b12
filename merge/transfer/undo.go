package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"mergesafe/store"
)

// UndoOptions are what may be chosen about an undo.
type UndoOptions struct {
	Options

	// Force removes rows too that were changed since they were copied. What
	// the players did with them since then is lost.
	Force bool
}

// Undone is what [Undo] did, or found.
type Undone struct {
	ID   string `json:"id"`
	Rows int64  `json:"rows"` // that were removed

	// Changed are rows that are not as they were copied, and Missing such that
	// are gone. Without Force, they stand against the undo.
	Changed int64        `json:"changed"`
	Missing int64        `json:"missing"`
	Samples []Difference `json:"samples,omitempty"` // the first of them

	// Kept counts the target's own rows that were renamed by the merge and
	// have been given yet another value since. They keep it.
	Kept int64 `json:"kept,omitempty"`

	// SameAsBefore tells that every table that was copied holds exactly the
	// rows that the plan found in it. It cannot where the game went on after
	// the merge.
	SameAsBefore bool `json:"same_as_before"`
}

// Undo takes a merge out of the target again, whether it was completed or
// broken off: the rows that were copied and are as they were copied, the renames
// of the target's own rows, the entries in the registry, the fences in the
// sources and at last the notes of the merge itself.
//
// It needs the sources as they were copied: they are the record of what is to be
// removed. A source that was changed since is a [*ChangedError].
//
// Before it writes anything it compares all rows, and returns a [*RefusedError]
// if a game server runs on the target, another merge came later, rows were
// changed since and there is no Force, or rows that did not come with the merge
// refer to such that did: these would lose what they refer to. What it found is
// returned beside the error.
//
// It can be broken off and gone on with like [Apply].
func Undo(ctx context.Context, plan *Plan, target Database, sources []Database, opts UndoOptions) (*Undone, error) {
	r := &run{opts: opts.Options.withDefaults()}
	defer r.close()
	if err := r.open(plan, target, sources); err != nil {
		return nil, err
	}
	r.target.unchecked = true // what refers to the rows is looked for before
	u := &undo{run: r, force: opts.Force, done: &Undone{ID: plan.ID}}
	state := ""
	err := r.persist(ctx, "looking at the target", func(ctx context.Context) (err error) {
		state, err = r.manifest.load(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if state == "" {
		// All was removed, perhaps but the last.
		if err := r.persist(ctx, "removing the notes", r.manifest.remove); err != nil {
			return nil, err
		}
		if err := r.persist(ctx, "lifting the fences", u.liftFences(sources)); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("transfer: %w: %q does not know of the merge %s", ErrNoMerge, target.Name, plan.ID)
	}
	if err := u.prepare(ctx, target, state); err != nil {
		return u.done, err
	}
	for _, step := range []func(context.Context, []Database) error{u.remove, u.restore, u.complete} {
		if err := step(ctx, sources); err != nil {
			return u.done, err
		}
	}
	return u.done, nil
}

// ErrNoMerge tells that the target does not know of the merge.
var ErrNoMerge = errors.New("no such merge")

type undo struct {
	*run
	force bool
	done  *Undone
}

// prepare looks at everything that stands against the undo, and then notes in
// the target that it has begun.
func (u *undo) prepare(ctx context.Context, target Database, state string) error {
	var reasons []Refusal
	refuse := func(table, format string, args ...any) {
		reasons = append(reasons, Refusal{Source: target.Name, Table: table, Reason: fmt.Sprintf(format, args...)})
	}
	err := u.persist(ctx, "looking at the databases", func(soft context.Context) error {
		reasons = nil
		*u.done = Undone{ID: u.plan.ID}
		s, err := openSource(soft, target)
		if err != nil {
			return err
		}
		defer s.Close()
		if s.schema() != u.plan.Target.Schema {
			refuse("", "its tables are not made as they were when the merge was planned")
			return nil
		}
		u.know(s)
		if u.registry {
			db, err := store.OpenReadOnly(soft, target.DSN)
			if err != nil {
				return err
			}
			servers, err := db.Registry().Servers(soft)
			db.Close()
			if err != nil {
				return err
			}
			for _, m := range servers {
				if !m.FenceFree(u.plan.ID) {
					refuse("", "server %s runs: it is held by %s: stop it first", m.ID, m.Holder)
				}
			}
		}
		ids, err := u.manifest.later(soft)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			refuse("", "the merge %s came later: undo that first", strings.Join(ids, ", "))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(reasons) == 0 && state != stateUndoing && state != statePreparing {
		if reasons, err = u.compareAll(ctx); err != nil {
			return err
		}
	}
	if len(reasons) > 0 {
		return &RefusedError{Doing: "undo", Refusals: reasons}
	}
	return u.persist(ctx, "beginning the undo", func(ctx context.Context) error { return u.manifest.advance(ctx, state, stateUndoing) })
}

// compareAll holds every row that was copied against its source, and says what
// stands against removing them. A table whose sum is as it should be needs no
// look at single rows.
func (u *undo) compareAll(ctx context.Context) (reasons []Refusal, err error) {
	found, err := u.readAll(ctx, StepCompare, true)
	if err != nil {
		return nil, err
	}
	planned := make(map[string]bool) // tables that are exactly as the merge left them
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		want := Content{Rows: t.Target.Rows, Sum: t.Target.After}
		for _, c := range found[i][1:] {
			want.Rows += c.Rows
			want.Sum = want.Sum.Add(c.After)
		}
		planned[t.Name] = found[i][0].Rows == want.Rows && found[i][0].Sum == want.Sum
	}
	for i := range u.plan.Tables {
		err := u.do(ctx, fmt.Sprintf("comparing table %q", u.plan.Tables[i].Name), func(soft context.Context) error {
			more, err := u.compareTable(ctx, soft, i, found[i][1:], planned)
			if err == nil {
				reasons = append(reasons, more...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return reasons, nil
}

// compareTable looks at one table: at the rows that were copied, of each source
// as many as copied says, unless all is as planned, and at what refers to them.
func (u *undo) compareTable(ctx, soft context.Context, table int, copied []Content, planned map[string]bool) (reasons []Refusal, err error) {
	t := &u.plan.Tables[table]
	l := u.layout(t.Name)
	var changed, missing int64
	var samples []Difference
	refer := make(map[string]int64)
	for j, c := range copied {
		if !planned[t.Name] {
			err := u.compare(ctx, soft, j, l, c.Rows, func(d *Difference, _, _ []any) error {
				if d.Missing {
					missing++
				} else {
					changed++
				}
				if len(u.done.Samples)+len(samples) < maxSamples {
					samples = append(samples, *d)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		if err := u.referring(ctx, soft, j, t, l, c.Rows, planned, refer); err != nil {
			return nil, err
		}
	}
	u.done.Changed += changed
	u.done.Missing += missing
	u.done.Samples = append(u.done.Samples, samples...)
	refuse := func(format string, args ...any) {
		reasons = append(reasons, Refusal{Source: u.target.Name, Table: t.Name, Reason: fmt.Sprintf(format, args...)})
	}
	if changed+missing > 0 && !u.force {
		refuse("%d rows were changed and %d are gone since they were copied: what was done with them would be lost; to remove them nevertheless, force it", changed, missing)
	}
	for _, what := range slices.Sorted(maps.Keys(refer)) {
		if refer[what] > 0 {
			refuse("%d rows of %s that did not come with the merge refer to rows that did: give them something else to refer to, or remove them", refer[what], what)
		}
	}
	return reasons, nil
}

// referring counts the rows of the target that refer to the rows of a source
// and are more than those that do so in the source. It counts by reference. In
// tables that are as planned there are none.
func (u *undo) referring(ctx, soft context.Context, source int, t *Table, l *layout, rows int64, planned map[string]bool, found map[string]int64) error {
	for _, from := range slices.Sorted(maps.Keys(u.references)) {
		if planned[from] {
			continue
		}
		for _, ref := range u.references[from] {
			if ref.ToTable != t.Name {
				continue
			}
			var columns []int
			for _, name := range ref.ToColumns {
				columns = append(columns, slices.Index(l.columns, name))
			}
			if slices.Contains(columns, -1) {
				continue
			}
			what := from + " (" + strings.Join(ref.Columns, ", ") + ")"
			n, err := u.countReferring(ctx, soft, source, l, columns, from, ref.Columns, rows)
			if err != nil {
				return err
			}
			found[what] += n
		}
	}
	return nil
}

func (u *undo) countReferring(ctx, soft context.Context, source int, l *layout, to []int, from string, columns []string, rows int64) (more int64, err error) {
	// What came along refers to what came along: those are as many as in the
	// source, as far as the table was copied.
	copied := u.plan.table(from)
	count := func(on *link, page [][]any) (n int64, err error) {
		d := l.dialect
		ref := &layout{dialect: d, table: from, columns: columns}
		var args []any
		for i := range columns {
			ref.key = append(ref.key, i)
		}
		for _, row := range page {
			for _, c := range to {
				args = append(args, row[c])
			}
		}
		query := "SELECT COUNT(*) FROM " + d.quote(from) + " WHERE " + ref.equal(len(page))
		err = on.rows(soft, query, len(page) == d.most(len(to)), args, func(row []any) (bool, error) {
			n, _ = row[0].(int64)
			return true, nil
		})
		return n, err
	}
	var after []any
	for rows > 0 {
		if err := u.between(ctx); err != nil {
			return 0, err
		}
		p, err := readPage(soft, u.sources[source], l, after, int(min(rows, int64(l.dialect.most(len(to))))), nil)
		if err != nil || len(p.rows) == 0 {
			return more, err
		}
		rows -= int64(len(p.rows))
		after = l.keyOf(p.rows[len(p.rows)-1])
		there, err := count(u.target, p.rows)
		if err != nil {
			return 0, err
		}
		if there == 0 {
			continue
		}
		here := int64(0)
		if copied != nil {
			if here, err = count(u.sources[source], p.rows); err != nil {
				return 0, err
			}
		}
		more += max(0, there-here)
	}
	return more, nil
}

// remove deletes the copied rows.
func (u *undo) remove(ctx context.Context, _ []Database) error {
	u.step(u.plan.Rows())
	return u.together(ctx, writing, u.parts(0), u.removePart)
}

func (u *undo) removePart(ctx context.Context, w *run, p part) error {
	l, src := w.layout(w.plan.Tables[p.table].Name), w.sources[p.source]
	change := w.renames.of(src.Name, l)
	return w.do(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, l.table), func(soft context.Context) error {
		copied, err := w.manifest.mark(soft, StepCopy, src.Name, l.table)
		if err != nil || copied.rows == 0 {
			return err
		}
		m, err := w.manifest.mark(soft, StepUndo, src.Name, l.table)
		if err != nil || m.finished {
			return err
		}
		w.progress(StepUndo, src.Name, l.table, int(m.rows))
		removed := int64(0) // by the last batch, which may have been rolled back
		err = w.each(ctx, soft, src, l, m, expected{rows: copied.rows, sum: copied.sum, part: true}, func(rows [][]any) error {
			atomic.AddInt64(&u.done.Rows, removed)
			if err := change.rows(rows); err != nil {
				return err
			}
			removed, err = u.delete(soft, w.target, src.Name, l, rows)
			return err
		})
		if err == nil {
			atomic.AddInt64(&u.done.Rows, removed)
		}
		return err
	})
}

// delete removes the rows with the keys of these from the target, and returns
// how many there were. If one is not as it was copied, and there is no force, it
// returns an error, and the transaction has to be rolled back.
func (u *undo) delete(ctx context.Context, on *link, source string, l *layout, rows [][]any) (removed int64, err error) {
	for part := range slices.Chunk(rows, l.dialect.most(len(l.key))) {
		there, err := u.take(ctx, on, l, part)
		if err != nil {
			return removed, err
		}
		for i, row := range part {
			d := l.difference(row, there[i])
			if d != nil && !d.Missing && !u.force {
				d.Source = source
				return removed, fmt.Errorf("%s: it was changed while the undo ran; stop what writes there, then force the undo or set the row right", d)
			}
			if there[i] != nil {
				removed++
			}
		}
	}
	return removed, nil
}

// take deletes the rows with the keys of these, and returns them as they were;
// nil where there was none.
func (u *undo) take(ctx context.Context, on *link, l *layout, rows [][]any) (there [][]any, err error) {
	remove := "DELETE FROM " + l.dialect.quote(l.table) + " WHERE " + l.equal(len(rows))
	full := len(rows) == l.dialect.most(len(l.key))
	if u.plan.Engine != "mysql" && !u.opts.mute {
		if err := on.tripped("before delete"); err != nil {
			return nil, err
		}
		there, err = find(ctx, on, l, remove+" RETURNING "+strings.Join(l.reads, ", "), rows)
		if err != nil {
			return nil, err
		}
		return there, on.tripped("after delete")
	}
	// MySQL does not return what it deletes.
	if there, err = lookup(ctx, on, l, rows); err != nil {
		return nil, err
	}
	want := int64(0)
	var args []any
	for i, row := range rows {
		args = append(args, l.keyOf(row)...)
		if there[i] != nil {
			want++
		}
	}
	got, err := on.exec(ctx, "delete", remove, full, args...)
	if err == nil && got != want {
		err = fmt.Errorf("table %q: %d rows were removed, want %d: something else happened there", l.table, got, want)
	}
	return there, err
}

// restore gives the target's own rows their names back.
func (u *undo) restore(ctx context.Context, _ []Database) error {
	back := *u.plan
	back.Renames = nil
	for _, n := range u.plan.Renames {
		if n.Source == u.target.Name {
			n.Old, n.New = n.New, n.Old
			back.Renames = append(back.Renames, n)
		}
	}
	renames := newRenamer(&back)
	u.step(u.renamedRows())
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		if t.Target.Sum == t.Target.After {
			continue
		}
		l := u.layout(t.Name)
		change := renames.of(u.target.Name, l)
		err := u.do(ctx, fmt.Sprintf("restoring names in table %q", t.Name), func(soft context.Context) error {
			m, err := u.manifest.mark(soft, StepRestore, u.target.Name, t.Name)
			if err != nil || m.finished {
				return err
			}
			reader := u.reader()
			defer reader.close()
			return u.each(ctx, soft, reader, l, m, expected{any: true}, func(rows [][]any) error {
				return u.rewrite(soft, l, rows, change)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// complete takes the merge off the registries, sets the counters back, and
// removes the notes.
func (u *undo) complete(ctx context.Context, sources []Database) error {
	err := u.persist(ctx, "setting back counters and registry", func(ctx context.Context) error {
		if err := u.checkReferences(ctx); err != nil {
			return err
		}
		for i := range u.plan.Tables {
			t := &u.plan.Tables[i]
			if t.Counter != nil {
				if err := u.target.setCounter(ctx, t.Name, t.Counter.Column, t.Counter.Before); err != nil {
					return err
				}
			}
		}
		if !u.registry {
			return nil
		}
		u.target.drop() // SQLite has one writer at a time
		return u.target.db.InTx(ctx, func(tx *store.Tx) error {
			return u.target.db.Registry().RemoveMerged(ctx, tx, mergedServers(u.plan)...)
		})
	})
	if err != nil {
		return err
	}
	if err := u.lookAtLeft(ctx); err != nil {
		return err
	}
	if err := u.persist(ctx, "lifting the fences", u.liftFences(sources)); err != nil {
		return err
	}
	return u.persist(ctx, "removing the notes", u.manifest.remove)
}

// lookAtLeft finds out whether the target has the rows that it had before.
func (u *undo) lookAtLeft(ctx context.Context) error {
	u.step(u.ownRows())
	u.done.SameAsBefore = true
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		err := u.do(ctx, fmt.Sprintf("looking at what is left in table %q", t.Name), func(soft context.Context) error {
			now, err := contents(soft, u.target, u.layout(t.Name), all, nil, func(n int) error {
				u.progress(StepVerify, u.target.Name, t.Name, n)
				return u.between(ctx)
			})
			if err == nil && (now.Rows != t.Target.Rows || now.Sum != t.Target.Sum) {
				u.done.SameAsBefore = false
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// liftFences lets the servers of the sources start again.
func (u *undo) liftFences(sources []Database) func(context.Context) error {
	return func(ctx context.Context) error {
		u.drop()
		for i, w := range u.plan.Sources {
			if !w.Fence {
				continue
			}
			db, err := store.Open(ctx, sources[i].DSN)
			if err != nil {
				return fmt.Errorf("database %q: %w", w.Name, err)
			}
			for _, s := range w.Servers {
				if s.Own && err == nil {
					err = db.Registry().LiftFence(ctx, s.Server, u.plan.ID)
				}
			}
			db.Close()
			if err != nil {
				return fmt.Errorf("lifting the fence of %q: %w", w.Name, err)
			}
		}
		return u.target.tripped("after lifting")
	}
}
