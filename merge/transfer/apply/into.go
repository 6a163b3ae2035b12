package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/write"
	"mergesafe/store/registry"
)

// A merge into a new database is made beside all worlds. Of these only the fences are written,
// so there is nothing to be taken back: an undo drops what was made. The tables come first, bare;
// then the rows of all worlds, and the indexes of a table as soon as its rows are there; then the
// foreign keys, and last what hangs on rows that are written: triggers, events. Nothing of that
// has a checkpoint but the rows: each step looks at what is there, and makes what is missing.

// applyInto makes the new database.
func applyInto(ctx context.Context, r *job.Run, state ledger.State) error {
	switch state {
	case ledger.StateUndoing:
		return fmt.Errorf("transfer: the merge %s is being undone: run undo again to its end first", r.Plan.ID)
	case ledger.StateMade, ledger.StateProved, ledger.StateCopied:
		return nil
	}
	if err := preflight(ctx, r, state); err != nil {
		return err
	}
	if err := r.Retry(ctx, "reading how the worlds are made", func(ctx context.Context) error { return AsMade(ctx, r, "apply", true) }); err != nil {
		return err
	}
	if state == "" {
		if err := isNew(ctx, r); err != nil {
			return err
		}
		if err := r.Retry(ctx, "looking at the fences", func(ctx context.Context) error { return otherCopies(ctx, r, "apply") }); err != nil {
			return err
		}
		if r.Opts.Reserve != nil {
			if err := r.Opts.Reserve(ctx); err != nil {
				return err
			}
		}
	}
	var all *schema.Schema
	steps := []struct {
		doing string
		do    func(ctx context.Context) error
	}{
		{"making the new database", func(ctx context.Context) error { return beginRecord(ctx, r) }},
		{"fencing the worlds", func(ctx context.Context) error {
			r.First.Drop() // it read what is written now
			return r.During(ctx, ledger.StateCopying, func() error { return fence(ctx, r, registry.FenceMerging) })
		}},
		{"reading the tables of " + r.First.Name, func(ctx context.Context) (err error) {
			all, err = schema.Read(ctx, r.First)
			return err
		}},
		{"bringing the records of " + r.First.Name, func(ctx context.Context) error { return bringRecords(ctx, r) }},
		{"making the tables", func(ctx context.Context) error { return all.MakeTables(ctx, r.Target) }},
	}
	for _, s := range steps {
		if err := r.Retry(ctx, s.doing, s.do); err != nil {
			return err
		}
	}
	if err := bringRows(ctx, r, all); err != nil {
		return err
	}
	r.Beside(ledger.StepFinish, r.Target.Name, "", 0, r.Plan.AllRows())
	for _, s := range []struct {
		doing string
		do    func(ctx context.Context) error
	}{
		{"adding the foreign keys", func(ctx context.Context) error { return all.MakeReferences(ctx, r.Target) }},
		{"raising the counters", func(ctx context.Context) error { return raiseInto(ctx, r) }},
		{"making views, routines and triggers", func(ctx context.Context) error { return all.MakeRest(ctx, r.Target) }},
		{"completing the merge", func(ctx context.Context) error { return completeInto(ctx, r) }},
	} {
		if err := r.Retry(ctx, s.doing, s.do); err != nil {
			return err
		}
	}
	return nil
}

// AsMade refuses if the first world was altered since the plan was made, or if events of a world run, which no fence
// stops. If more is made, it refuses also what cannot be made any more.
func AsMade(ctx context.Context, r *job.Run, doing string, more bool) error {
	refused := &ledger.RefusedError{Doing: doing}
	refuse := func(world, reason string) {
		refused.Refusals = append(refused.Refusals, plan.Refusal{Source: world, Reason: reason})
	}
	for i, world := range r.Origins() {
		on := &rowio.Connection{Database: world.Database} // reads what is there now
		defer on.Close()
		running, err := schema.Running(ctx, on)
		if err != nil {
			return err
		}
		for _, o := range running {
			refuse(world.Name, o.String())
		}
		if i > 0 {
			continue
		}
		all, err := schema.Read(ctx, on)
		if err != nil {
			return err
		}
		for _, what := range all.Altered(r.Plan.Into.Made) {
			refuse(world.Name, what+" was altered since the plan was made: plan again")
		}
		if !more {
			continue
		}
		obstacles, err := all.Obstacles(ctx, r.Target.Database)
		if err != nil {
			return err
		}
		for _, o := range obstacles {
			refuse(world.Name, o.String())
		}
	}
	if len(refused.Refusals) == 0 {
		return nil
	}
	if r.Manifest.Left != "" {
		return ledger.AfterUndo(refused)
	}
	return refused
}

// isNew refuses a database that has anything in it, and no record of this merge.
func isNew(ctx context.Context, r *job.Run) error {
	return r.Retry(ctx, "looking at the new database", func(ctx context.Context) error {
		there, err := schema.Exists(ctx, r.Target.Database)
		if err != nil || !there {
			return err
		}
		found, err := schema.Contains(ctx, r.Target)
		if err != nil || len(found) == 0 {
			return err
		}
		if now, err := r.Manifest.Load(ctx); err != nil || now != "" { // another process began
			return errors.Join(err, r.Manifest.ExpectState(ctx, ""))
		}
		for _, name := range found { // made by an apply that was killed before it wrote its record
			if !slices.Contains(ledger.Ours, strings.ToLower(name)) {
				return &ledger.RefusedError{Doing: "apply", Refusals: []plan.Refusal{{Source: r.Target.Name, Reason: fmt.Sprintf("the new database is not empty: it has %q: plan again with the name of one that does not exist", name)}}}
			}
		}
		return nil
	})
}

// beginRecord makes the database, and records the merge there.
func beginRecord(ctx context.Context, r *job.Run) error {
	all, err := schema.Read(ctx, r.First)
	if err != nil {
		return err
	}
	if _, err := all.Create(ctx, r.Target.Database); err != nil {
		return err
	}
	if begun, err := begun(ctx, r); err != nil || begun {
		return err
	}
	if err := r.Manifest.Write(ctx, r.Plan, r.Hooks.Clock()); err != nil {
		return err
	}
	return r.Manifest.Advance(ctx, ledger.StatePreparing, ledger.StateCopying)
}

// bringRows copies the rows of all worlds, and makes the indexes of each table when they are there.
func bringRows(ctx context.Context, r *job.Run, all *schema.Schema) error {
	r.Step(r.Plan.OwnRows() + r.Plan.Rows())
	parts, left := intoParts(r.Plan)
	var mu sync.Mutex
	indexed, rows := make(map[string]bool), int64(0)
	index := func(ctx context.Context, w *job.Run, table string) error {
		return w.Retry(ctx, fmt.Sprintf("making the indexes of table %q", table), func(soft context.Context) error {
			if err := w.Manifest.ExpectState(soft, ledger.StateCopying); err != nil {
				return err
			}
			if err := all.MakeIndexes(soft, w.Target, table); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if of := rowsInto(r.Plan, table); of > 0 && !indexed[table] {
				indexed[table] = true
				rows += of
				w.Beside(ledger.StepIndex, r.Target.Name, table, rows, r.Plan.AllRows())
			}
			return nil
		})
	}
	err := r.InParallel(ctx, job.Writing, parts, func(ctx context.Context, w *job.Run, p plan.Part) error {
		table, err := bringPart(ctx, w, p)
		if err != nil {
			return err
		}
		mu.Lock()
		left[p.Table]--
		last := left[p.Table] == 0
		mu.Unlock()
		combines := p.Table < len(r.Plan.Tables) && r.Plan.Tables[p.Table].Combine != nil // by the key
		if !last || combines && r.Layouts[table].ByPrimary() {
			return nil
		}
		return index(ctx, w, table)
	})
	if err != nil {
		return err
	}
	if err := bring(ctx, r); err != nil {
		return err
	}
	for _, table := range all.Tables() { // those of which no row came, too
		if err := index(ctx, r, table); err != nil {
			return err
		}
	}
	return nil
}

// rowsInto is how many rows a table of the new database gets.
func rowsInto(p *plan.Plan, table string) (n int64) {
	for i := range p.Tables {
		if t := &p.Tables[i]; t.Name == table {
			n += t.Rows() + t.Target.Rows
		}
	}
	if own := p.Own(table); own != nil {
		n += own.Content.Rows
	}
	return n
}

// intoParts are all parts of the tables: those of the plan, then those of the first world alone,
// and how many of each table there are. Of a table that is combined, they are the first world's.
func intoParts(p *plan.Plan) (all []plan.Part, of []int) {
	of = make([]int, len(p.Tables)+len(p.Into.Tables))
	add := func(table, source int, c *rowio.Content) {
		for k := range c.Parts() {
			all = append(all, plan.Part{Table: table, Source: source, Number: k})
			of[table]++
		}
	}
	for i := range p.Tables {
		t := &p.Tables[i]
		add(i, plan.OfTarget, &t.Target)
		for j := range t.Sources {
			if t.Combine == nil {
				add(i, j, &t.Sources[j])
			}
		}
	}
	for i := range p.Into.Tables {
		add(len(p.Tables)+i, plan.OfTarget, &p.Into.Tables[i].Content)
	}
	return all, of
}

// bringPart copies a part.
func bringPart(ctx context.Context, r *job.Run, p plan.Part) (table string, err error) {
	if p.Source != plan.OfTarget {
		return r.Plan.Tables[p.Table].Name, copyPart(ctx, r, p)
	}
	var content *rowio.Content
	if i := p.Table - len(r.Plan.Tables); i >= 0 {
		table, content = r.Plan.Into.Tables[i].Name, &r.Plan.Into.Tables[i].Content
	} else {
		table, content = r.Plan.Tables[p.Table].Name, &r.Plan.Tables[p.Table].Target
	}
	return table, copyRange(ctx, r, ledger.StepOwn, r.First, r.Layouts[table], content, p.Number, func([][]any) {})
}

// raiseInto gives the counters of the new database their values.
func raiseInto(ctx context.Context, r *job.Run) error {
	return r.During(ctx, ledger.StateCopying, func() error {
		if err := bringSequences(ctx, r); err != nil {
			return err
		}
		return finish(ctx, r)
	})
}

// completeInto makes sure that all is there and that nobody wrote meanwhile, in the new database
// or in a world.
func completeInto(ctx context.Context, r *job.Run) error {
	if now, err := r.Manifest.Load(ctx); err != nil || now == ledger.StateMade { // the answer was lost
		r.Manifest.Left = ledger.StateMade
		return err
	}
	for _, look := range []func(context.Context, *job.Run) error{noneDangles, Undisturbed, stillUnaltered} {
		if err := look(ctx, r); err != nil {
			return err
		}
	}
	if err := AsMade(ctx, r, "apply", false); err != nil {
		return err
	}
	return r.Manifest.Advance(ctx, ledger.StateCopying, ledger.StateMade)
}

// Undisturbed makes sure that nobody wrote to the new database since its rows came, or ran a
// server of a world, as far as numbers of rows and the registries tell.
func Undisturbed(ctx context.Context, r *job.Run) error {
	for i := range r.Plan.Into.Tables {
		t := &r.Plan.Into.Tables[i]
		rows, err := r.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if want := t.Content.Rows; rows != want {
			return write.Miscounted(r, t.Name, rows, want)
		}
	}
	for _, look := range []func(context.Context, *job.Run) error{confirm, worldsFenced,
		func(ctx context.Context, r *job.Run) error { return r.WorldsAsCounted(ctx) }, checkUndisturbed} {
		if err := look(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// worldsFenced makes sure that the worlds have the fences of this merge, and have not run.
func worldsFenced(ctx context.Context, r *job.Run) error {
	return eachFence(ctx, r, "looking at the fence of", func(db *sqldb.DB, w plan.World) error {
		now, err := rowio.RegistryOf(db).Servers(ctx)
		if err != nil {
			return err
		}
		if reason := ledger.NotKept(w, now, r.Plan.ID); reason != "" {
			return &ledger.ChangedError{Database: w.Name, Reason: reason}
		}
		return nil
	})
}
