package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
		if u.circular() {
			u.target.unchecked = true
			u.target.drop() // its session checks
		}
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
		if len(reasons) > 0 || state == stateUndoing || state == statePreparing {
			return nil
		}
		reasons, err = u.compareAll(ctx, target.Name)
		return err
	})
	if err != nil {
		return err
	}
	if len(reasons) > 0 {
		return &RefusedError{Doing: "undo", Refusals: reasons}
	}
	return u.persist(ctx, "beginning the undo", func(ctx context.Context) error { return u.manifest.advance(ctx, state, stateUndoing) })
}

// compareAll holds every row that was copied against its source.
func (u *undo) compareAll(ctx context.Context, target string) (reasons []Refusal, err error) {
	u.run.done, u.total = 0, u.plan.Rows()
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		l := u.layout(t.Name)
		var changed, missing int64
		refer := make(map[string]int64)
		for j := range t.Sources {
			m, err := u.manifest.mark(ctx, StepCopy, u.sources[j].Name, t.Name)
			if err != nil {
				return nil, err
			}
			limit := *m
			err = u.compare(ctx, j, l, &limit, func(d *Difference, _, _ []any) error {
				if d.Missing {
					missing++
				} else {
					changed++
				}
				if len(u.done.Samples) < maxSamples {
					u.done.Samples = append(u.done.Samples, *d)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			if limit.rows != 0 || limit.sum != (Sum{}) {
				return nil, &ChangedError{Database: u.sources[j].Name, Table: t.Name, Rows: m.rows - limit.rows, Want: m.rows}
			}
			if err := u.referring(ctx, j, t, l, m.rows, refer); err != nil {
				return nil, err
			}
			u.progress(StepCompare, u.sources[j].Name, t.Name, int(m.rows))
		}
		u.done.Changed += changed
		u.done.Missing += missing
		if changed+missing > 0 && !u.force {
			reasons = append(reasons, Refusal{Source: target, Table: t.Name,
				Reason: fmt.Sprintf("%d rows were changed and %d are gone since they were copied: what was done with them would be lost; to remove them nevertheless, force it", changed, missing)})
		}
		for _, what := range slices.Sorted(maps.Keys(refer)) {
			if refer[what] > 0 {
				reasons = append(reasons, Refusal{Source: target, Table: t.Name,
					Reason: fmt.Sprintf("%d rows of %s that did not come with the merge refer to rows that did: give them something else to refer to, or remove them", refer[what], what)})
			}
		}
	}
	return reasons, nil
}

// referring counts the rows of the target that refer to the rows of a source
// and are more than those that do so in the source. It counts by reference.
func (u *undo) referring(ctx context.Context, source int, t *Table, l *layout, rows int64, found map[string]int64) error {
	for _, from := range slices.Sorted(maps.Keys(u.references)) {
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
			n, err := u.countReferring(ctx, source, l, columns, from, ref.Columns, rows)
			if err != nil {
				return err
			}
			found[what] += n
		}
	}
	return nil
}

func (u *undo) countReferring(ctx context.Context, source int, l *layout, to []int, from string, columns []string, rows int64) (more int64, err error) {
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
		err = on.rows(ctx, query, false, args, func(row []any) (bool, error) {
			n, _ = row[0].(int64)
			return true, nil
		})
		return n, err
	}
	var after []any
	for rows > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		p, err := readPage(ctx, u.sources[source], l, after, int(min(rows, int64(l.dialect.most(len(to))))), nil)
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

// circular reports whether tables refer to each other, or to themselves, so
// that no order of removing satisfies every foreign key at every moment.
func (u *undo) circular() bool {
	for i := range u.plan.Tables {
		for _, ref := range u.references[u.plan.Tables[i].Name] {
			for _, later := range u.plan.Tables[i:] {
				if later.Name == ref.ToTable {
					return true
				}
			}
		}
	}
	return false
}

// remove deletes the copied rows, those that refer to others first.
func (u *undo) remove(ctx context.Context, _ []Database) error {
	u.run.done, u.total = 0, u.plan.Rows()
	for i := len(u.plan.Tables) - 1; i >= 0; i-- {
		t := &u.plan.Tables[i]
		l := u.layout(t.Name)
		for j := range t.Sources {
			src := u.sources[j]
			change := u.renames.of(src.Name, l)
			start := u.run.done
			err := u.persist(ctx, fmt.Sprintf("removing the rows of %q from table %q", src.Name, t.Name), func(soft context.Context) error {
				u.run.done = start
				copied, err := u.manifest.mark(soft, StepCopy, src.Name, t.Name)
				if err != nil || copied.rows == 0 {
					return err
				}
				m, err := u.manifest.mark(soft, StepUndo, src.Name, t.Name)
				if err != nil || m.finished {
					return err
				}
				u.progress(StepUndo, src.Name, t.Name, int(m.rows))
				return u.each(ctx, soft, src, l, m, expected{rows: copied.rows, sum: copied.sum, part: true}, func(rows [][]any) error {
					if change != nil {
						for _, row := range rows {
							if _, err := change(row); err != nil {
								return err
							}
						}
					}
					return u.delete(soft, src.Name, l, rows)
				})
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// delete removes the rows with the keys of these from the target.
func (u *undo) delete(ctx context.Context, source string, l *layout, rows [][]any) error {
	most := l.dialect.most(len(l.key))
	for len(rows) > 0 {
		part := rows[:min(most, len(rows))]
		rows = rows[len(part):]
		there, err := u.lookup(ctx, u.target, l, part)
		if err != nil {
			return err
		}
		var args []any
		n := 0
		for i, row := range part {
			d := l.difference(row, there[i])
			if d != nil && d.Missing {
				continue
			}
			if d != nil && !u.force {
				d.Source = source
				return fmt.Errorf("%s: it was changed while the undo ran; stop what writes there, then force the undo or set the row right", d)
			}
			args = append(args, l.keyOf(row)...)
			n++
		}
		if n == 0 {
			continue
		}
		got, err := u.target.exec(ctx, "delete", "DELETE FROM "+l.dialect.quote(l.table)+" WHERE "+l.equal(n), n == most, args...)
		if err != nil {
			return err
		}
		if got != int64(n) {
			return fmt.Errorf("table %q: %d rows were removed, want %d: something else happened there", l.table, got, n)
		}
		u.done.Rows += got
	}
	return nil
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
	u.run.done, u.total = 0, 0
	for i := range u.plan.Tables {
		t := &u.plan.Tables[i]
		if t.Target.Sum == t.Target.After {
			continue
		}
		l := u.layout(t.Name)
		change := renames.of(u.target.Name, l)
		err := u.persist(ctx, fmt.Sprintf("restoring names in table %q", t.Name), func(soft context.Context) error {
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
	err = u.persist(ctx, "looking at what is left", func(soft context.Context) error {
		u.done.SameAsBefore = true
		for i := range u.plan.Tables {
			t := &u.plan.Tables[i]
			now, err := contents(ctx, u.target, u.layout(t.Name), nil, nil)
			if err != nil {
				return err
			}
			if now.Rows != t.Target.Rows || now.Sum != t.Target.Sum {
				u.done.SameAsBefore = false
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := u.persist(ctx, "lifting the fences", u.liftFences(sources)); err != nil {
		return err
	}
	return u.persist(ctx, "removing the notes", u.manifest.remove)
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
