package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/store"
)

// Result is what [Apply] did.
type Result struct {
	ID      string // of the merge: that of the plan
	Rows    int64  // that were copied, by this call and those before
	Renames int
	Resumed bool // some of it had been done before
}

// Apply carries a plan out. The databases are given in the order of the plan,
// by the names that they have there.
//
// Before it writes anything it looks whether the databases are still as planned
// (schema, registries, numbers of rows), no game server runs on them, and the
// account may do all that it takes. If not it returns a [*RefusedError].
//
// When it was broken off, in whatever way, the same call goes on: an error that
// is [ErrStopped] says that this is all there is to do. A [*ChangedError] tells
// that a source is not what was planned. A merge that was carried out already
// is no error.
func Apply(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) (*Result, error) {
	r := &run{opts: opts.withDefaults()}
	defer r.close()
	if err := r.open(plan, target, sources); err != nil {
		return nil, err
	}
	r.target.unchecked = true
	result := &Result{ID: plan.ID, Renames: len(plan.Renames)}
	var state string
	err := r.persist(ctx, "looking at the target", func(ctx context.Context) (err error) {
		state, err = r.manifest.load(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	result.Resumed = state != ""
	switch state {
	case stateUndoing:
		return nil, fmt.Errorf("transfer: the merge %s is being undone: let that come to its end first", plan.ID)
	case stateCopied:
		result.Rows = plan.Rows()
		return result, nil
	}
	begun := state == stateCopying
	if err := r.preflight(ctx, target, sources, begun); err != nil {
		return nil, err
	}
	if !begun {
		err := r.persist(ctx, "writing the manifest", r.begin)
		if denied(err) {
			err = &RefusedError{Doing: "apply", Refusals: []Refusal{{Source: target.Name, Reason: fmt.Sprintf("the account lacks a right: %v", err)}}}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.persist(ctx, "fencing the sources", func(ctx context.Context) error { return r.fence(ctx, sources) }); err != nil {
		return nil, err
	}
	if err := r.renameOwn(ctx); err != nil {
		return nil, err
	}
	r.step(plan.Rows())
	err = r.together(ctx, writing, r.parts(0), func(ctx context.Context, w *run, p part) error { return w.copyAll(ctx, p) })
	if err != nil {
		return nil, err
	}
	err = r.persist(ctx, "completing the merge", func(ctx context.Context) error {
		if err := r.checkReferences(ctx); err != nil {
			return err
		}
		if err := r.raiseCounters(ctx); err != nil {
			return err
		}
		return r.manifest.advance(ctx, stateCopying, stateCopied)
	})
	if err != nil {
		return nil, err
	}
	result.Rows = plan.Rows()
	return result, nil
}

// begin notes the merge in the target, and in one transaction lists the merged
// worlds in its registry and says that copying may begin.
func (r *run) begin(ctx context.Context) error {
	state, err := r.manifest.load(ctx)
	if err != nil || state == stateCopying {
		return err
	}
	began := r.opts.Clock().UTC().Format("2006-01-02 15:04:05.000")
	if err := r.manifest.write(ctx, r.plan, began); err != nil {
		return err
	}
	if err := r.target.tripped("before lineage"); err != nil {
		return err
	}
	r.target.drop() // SQLite has one writer at a time
	err = r.target.db.InTx(ctx, func(tx *store.Tx) error {
		if r.registry {
			if err := r.target.db.Registry().AddMerged(ctx, tx, mergedServers(r.plan)...); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE "+MergesTable+" SET state = ? WHERE id = ? AND state = ?", stateCopying, r.plan.ID, statePreparing)
		return err
	})
	if err != nil {
		return err
	}
	return r.target.tripped("after lineage")
}

// fence keeps the servers of the sources from being started, where the plan
// says so. Then their marks must be those of the plan, for good.
func (r *run) fence(ctx context.Context, sources []Database) error {
	for i, w := range r.plan.Sources {
		if !w.Fence {
			continue
		}
		db, err := store.Open(ctx, sources[i].DSN)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		err = r.fenceOne(ctx, db, w)
		db.Close()
		if err != nil {
			return fmt.Errorf("fencing %q: %w", w.Name, err)
		}
	}
	return nil
}

func (r *run) fenceOne(ctx context.Context, db *store.DB, w World) error {
	if err := r.target.tripped("before fence"); err != nil {
		return err
	}
	for _, s := range w.Servers {
		if s.Own {
			if err := db.Registry().Fence(ctx, s.Server, store.FenceTo(r.plan.ID, r.plan.Target.Name, r.opts.Clock())); err != nil {
				return err
			}
		}
	}
	now, err := db.Registry().Servers(ctx)
	if err != nil {
		return err
	}
	if reason := marksMoved(w, now); reason != "" {
		return fmt.Errorf("%s since the plan was made: a game server has run; undo the merge and plan again", reason)
	}
	return r.target.tripped("after fence")
}

// marksMoved says in what way a registry is not that of the plan; "" if it is.
func marksMoved(w World, now []store.Server) string {
	if len(now) != len(w.Servers) {
		return fmt.Sprintf("the registry lists %d servers and listed %d", len(now), len(w.Servers))
	}
	for i, s := range w.Servers {
		n := now[i]
		if n.ID != s.Server || n.World != s.World || (n.Role == store.RoleOwn) != s.Own {
			return fmt.Sprintf("the registry lists server %s (world %s) where it listed server %s (world %s)", n.ID, n.World, s.Server, s.World)
		}
		if n.Reserved != s.Mark {
			return fmt.Sprintf("the mark of server %s moved from %d to %d", s.Server, s.Mark, n.Reserved)
		}
	}
	return ""
}

// layout returns how a table is read and written, as the target has it.
func (r *run) layout(table string) *layout { return r.layouts[table] }

// copyAll copies the rows of one table from one source.
func (r *run) copyAll(ctx context.Context, p part) error {
	t, src := &r.plan.Tables[p.table], r.sources[p.source]
	l := r.layout(t.Name)
	doing := fmt.Sprintf("copying table %q of %q", t.Name, src.Name)
	change := r.renames.of(src.Name, l)
	return r.do(ctx, doing, func(soft context.Context) error {
		m, err := r.manifest.mark(soft, StepCopy, src.Name, t.Name)
		if err != nil {
			return err
		}
		r.progress(StepCopy, src.Name, t.Name, int(m.rows))
		if m.finished {
			return nil
		}
		return r.each(ctx, soft, src, l, m, expected{rows: t.Sources[p.source].Rows, sum: t.Sources[p.source].Sum}, func(rows [][]any) error {
			if err := change.rows(rows); err != nil {
				return err
			}
			return r.insert(soft, l, rows)
		})
	})
}

// expected is what the rows of a table must be together.
type expected struct {
	rows int64
	sum  Sum
	part bool // there may be more rows after these, which are not read
	any  bool // nothing is expected
}

// each goes through the rows of a table that lie after a mark, and calls work
// for every batch in a transaction of the target that moves the mark along. At
// the end all rows together must be those that were planned.
func (r *run) each(ctx, soft context.Context, from *link, l *layout, m *mark, want expected, work func(rows [][]any) error) error {
	p := newPace(r.opts.Batch)
	most := int64(all)
	if want.part {
		most = want.rows - m.rows
	}
	next, stop := pages(soft, from, l, m.after, p.size, most, true)
	defer stop()
	for {
		if err := r.between(ctx); err != nil {
			return err
		}
		pg, err := next()
		if err != nil {
			return err
		}
		begun := time.Now()
		to := *m
		to.there, to.finished = true, pg.last
		to.rows += int64(len(pg.rows))
		to.sum = to.sum.Add(pg.sum)
		if n := len(pg.rows); n > 0 {
			to.after = l.keyOf(pg.rows[n-1])
		}
		if !want.any && (to.rows > want.rows || to.finished && to.rows < want.rows || to.rows == want.rows && to.sum != want.sum) {
			return &ChangedError{Database: from.Name, Table: l.table, Rows: to.rows, Want: want.rows}
		}
		err = r.target.tx(soft, func() error {
			if err := work(pg.rows); err != nil {
				return err
			}
			return r.manifest.move(soft, m, &to)
		})
		if err != nil {
			return r.notWritten(soft, m, err)
		}
		r.moved++
		p.took(len(pg.rows), time.Since(begun))
		*m = to
		r.progress(m.step, from.Name, l.table, len(pg.rows))
		if pg.last {
			return nil
		}
	}
}

// notWritten says why a batch could not be written. A row that is there already
// was either copied by another process just now, or is not of this merge.
func (r *run) notWritten(ctx context.Context, m *mark, err error) error {
	if !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("writing table %q: %w", m.table, err)
	}
	now, markErr := r.manifest.mark(ctx, m.step, m.source, m.table)
	if markErr != nil {
		return fmt.Errorf("writing table %q: %w", m.table, markErr)
	}
	if now.rows != m.rows {
		return fmt.Errorf("%w: its mark in table %q of %q has moved", errBusy, m.table, m.source)
	}
	return fmt.Errorf("transfer: table %q: a row of %q is in the target already, and was not when the plan was made: undo the merge and plan again: %w", m.table, m.source, err)
}

// errBusy: two processes carry out one plan.
var errBusy = errors.New("transfer: another process works on the same merge")

// insert adds rows to the target, in as few statements as they fit into.
func (r *run) insert(ctx context.Context, l *layout, rows [][]any) error {
	most := l.dialect.most(len(l.columns))
	args := make([]any, 0, most*len(l.columns))
	for len(rows) > 0 {
		args = args[:0]
		n, size := 0, 0
		for n < min(most, len(rows)) {
			one := rowSize(rows[n])
			if n > 0 && size+one > r.target.packet {
				break
			}
			size += one
			args = append(args, rows[n]...)
			n++
		}
		if _, err := r.target.exec(ctx, "insert", l.insert(n), n == most, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func rowSize(row []any) (n int) {
	for _, v := range row {
		switch v := v.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
		n += 9
	}
	return n
}

// renameOwn renames the target's own rows, before others come that need their
// names.
func (r *run) renameOwn(ctx context.Context) error {
	r.step(r.renamedRows())
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		if t.Target.Sum == t.Target.After {
			continue
		}
		l := r.layout(t.Name)
		change := r.renames.of(r.target.Name, l)
		err := r.do(ctx, fmt.Sprintf("renaming in table %q of %q", t.Name, r.target.Name), func(soft context.Context) error {
			m, err := r.manifest.mark(soft, StepRename, r.target.Name, t.Name)
			if err != nil || m.finished {
				return err
			}
			reader := r.reader()
			defer reader.close()
			return r.each(ctx, soft, reader, l, m, expected{rows: t.Target.Rows, sum: t.Target.Sum}, func(rows [][]any) error {
				return r.rewrite(soft, l, rows, change)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// renamedRows is how many own rows the target has in tables in which some of
// them are renamed.
func (r *run) renamedRows() (n int64) {
	for i := range r.plan.Tables {
		if t := &r.plan.Tables[i]; t.Target.Sum != t.Target.After {
			n += t.Target.Rows
		}
	}
	return n
}

// rewrite changes rows of the target where they are.
func (r *run) rewrite(ctx context.Context, l *layout, rows [][]any, change changer) error {
	for _, row := range rows {
		old := slices.Clone(row)
		changed, err := change(row)
		if err != nil {
			return err
		}
		if changed {
			if err := r.update(ctx, l, old, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// reader opens a second connection to the target, to read ahead while the first
// one writes.
func (r *run) reader() *link {
	return &link{Database: r.target.Database, db: r.target.db, trip: r.target.trip, shared: true}
}

// update writes a row whose key stays over the one that was read.
func (r *run) update(ctx context.Context, l *layout, old, row []any) error {
	var set []string
	var args []any
	for i, name := range l.columns {
		if !same(old[i], row[i]) {
			set = append(set, l.dialect.quote(name)+" = ?")
			args = append(args, row[i])
		}
	}
	query := "UPDATE " + l.dialect.quote(l.table) + " SET " + strings.Join(set, ", ") + " WHERE " + l.equal(1)
	n, err := r.target.exec(ctx, "update", query, true, append(args, l.keyOf(old)...)...)
	if err == nil && n != 1 {
		err = fmt.Errorf("table %q: a row that was read is gone: somebody is writing to it", l.table)
	}
	return err
}

// raiseCounters sees to it that the target's counters lie beyond those of the
// sources.
func (r *run) raiseCounters(ctx context.Context) error {
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		if t.Counter != nil && t.Counter.After > t.Counter.Before {
			if err := r.target.setCounter(ctx, t.Name, t.Counter.Column, t.Counter.After); err != nil {
				return err
			}
		}
	}
	return nil
}

// setCounter makes next the next value of a counter, or the first after what
// the table has.
func (l *link) setCounter(ctx context.Context, table, column string, next uint64) error {
	d := l.dialect()
	next = max(next, 1)
	if d.mysql() { // minds the rows by itself
		_, err := l.exec(ctx, "counter", fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", d.quote(table), next), false)
		return err
	}
	// Only tables that were declared AUTOINCREMENT count beyond their rows.
	counts := false
	err := l.rows(ctx, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'", false, nil, func([]any) (bool, error) { counts = true; return true, nil })
	if err != nil || !counts {
		return err
	}
	_, err = l.exec(ctx, "counter", "UPDATE sqlite_sequence SET seq = MAX(?, (SELECT COALESCE(MAX("+d.quote(column)+"), 0) FROM "+d.quote(table)+")) WHERE name = ?", false,
		int64(next-1), table)
	if err == nil && next == 1 {
		_, err = l.exec(ctx, "counter", "DELETE FROM sqlite_sequence WHERE seq = 0 AND name = ?", false, table)
	}
	return err
}
