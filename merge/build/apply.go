package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"mergesafe/internal/sqldb"

	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Result is the result of [Apply]. Beside an error it says how far the merge came: a
// batch whose COMMIT got no answer may be written and not counted yet.
type Result struct {
	ID      string           // of the merge and its plan
	Rows    int64            // copied, by this call and earlier ones
	Wrote   int64            // of these, those that this call copied
	Parts   []job.PartResult // Rows, by table and world, in the order of the plan
	Renames int              // in the plan
	Resumed bool             // an earlier call had begun the merge
	Before  bool             // and made all of it: this one changed nothing
	Began   bool             // beside an error: something was written
	Notes   []string         // notes for the operator although it worked

	// Changed are the tables of which a rehearsal found other rows than the plan did.
	Changed []job.Changed
}

// Apply makes the new database of a plan, beside all worlds. The worlds are given in the order
// of the plan, and all databases by the names that they have there.
//
// Before it writes anything it makes sure that the worlds are as planned (schema, registries,
// counters), that no game server runs on them, and that the accounts have the rights. If
// not, it returns a [*record.RefusedError]. Of the worlds only the fences are written.
//
// If it is interrupted, in whatever way, the same call resumes; after [record.ErrStopped]
// nothing else is needed. A [*record.ChangedError] says that a world is not as planned. If
// the new database was made before, Apply returns no error.
//
// It returns a result beside an error too, unless it could not read the record.
func Apply(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) (*Result, error) {
	return ApplyWith(ctx, plan, into, worlds, opts, job.Hooks{})
}

func ApplyWith(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options, h job.Hooks) (*Result, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	r, err := job.NewRun(plan, into, worlds, opts, h)
	if err != nil {
		return nil, err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.Close()
	r.New.Unchecked, r.Anew = true, true
	state, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	err = r.OrBusy(ctx, apply(ctx, r, state))
	result := &Result{ID: plan.ID, Began: r.Began, Renames: len(plan.Renames), Resumed: state != "", Before: err == nil && state.Whole()}
	result.Parts, result.Rows, result.Wrote, result.Changed = r.Tally.Result(r.Plan)
	result.Notes = r.Notes
	return result, err
}

// The tables come first, bare; then the rows of all worlds, and the indexes of a table as soon as
// its rows are there; then the foreign keys, and last what hangs on rows that are written: triggers,
// events. Nothing of that has a checkpoint but the rows: each step looks at what is there, and makes
// what is missing.
func apply(ctx context.Context, r *job.Run, state record.State) error {
	if r.Behind(state) || state == record.StateMade {
		if err := r.Kept(ctx, "apply", state); err != nil {
			return err
		}
	}
	if err := refuseState(r, state); err != nil {
		return err
	}
	if state == record.StateMade {
		return r.Retry(ctx, "reading the copied rows", func(ctx context.Context) error {
			done, err := r.Manifest.Checkpoints(ctx)
			for _, c := range done {
				r.Tally.Filled(&c)
			}
			return err
		})
	}
	if err := preflight(ctx, r, state, false); err != nil {
		return err
	}
	if err := r.Retry(ctx, "reading the schema of the worlds", func(ctx context.Context) error { return asMade(ctx, r, "apply", true) }); err != nil {
		return err
	}
	if state == "" {
		if err := isNew(ctx, r); err != nil {
			return err
		}
	}
	if state == "" {
		if err := r.Retry(ctx, "checking the fences", func(ctx context.Context) error { return Lost(ctx, r, "apply") }); err != nil {
			return err
		}
	}
	first := r.Worlds[0]
	var made *world.Schema
	before := []step{
		{"making the new database", func(ctx context.Context) error { return beginRecord(ctx, r) }},
		{"closing the new database to game servers", func(ctx context.Context) error { return bringRecords(ctx, r) }},
		{"fencing the worlds", func(ctx context.Context) error {
			for _, w := range r.Worlds {
				w.Drop() // they read what is written now
			}
			if r.Opts.Try {
				return nil
			}
			return r.During(ctx, record.StateCopying, func() error { return fence(ctx, r) })
		}},
		{"reading the tables of " + first.Name, func(ctx context.Context) (err error) {
			if made, err = world.Read(ctx, first); err != nil {
				return err
			}
			if altered := made.Altered(r.Plan.New.Made); len(altered) > 0 { // since the look before the first write
				return &record.RefusedError{Doing: "apply", Refusals: []plan.Refusal{{Source: first.Name, Reason: altered[0] + " since the plan was made: take that back"}}}
			}
			made.Into(r.Plan.New.Engine)
			return nil
		}},
		{"copying the records of " + first.Name, func(ctx context.Context) error { return bringRecords(ctx, r) }},
		{"making the tables", func(ctx context.Context) error { return made.MakeTables(ctx, r.New) }},
	}
	if err := inOrder(ctx, r, before...); err != nil {
		return err
	}
	if err := bringRows(ctx, r, made); err != nil {
		return err
	}
	r.Tally.Beside(job.Progress{Step: record.StepFinish, Database: r.New.Name, Total: r.Plan.Rows()})
	return inOrder(ctx, r, []step{
		{"adding the foreign keys", func(ctx context.Context) error { return made.MakeReferences(ctx, r.New) }},
		{"raising the counters", func(ctx context.Context) error { return raiseCounters(ctx, r) }},
		{"restoring the constraints", func(ctx context.Context) error { return made.RestoreChecks(ctx, r.New) }},
		{"making views, routines and triggers", func(ctx context.Context) error { return made.MakeRest(ctx, r.New) }},
		{"completing the merge", func(ctx context.Context) error { return complete(ctx, r) }},
	}...)
}

// refuseState refuses what another command has to end first.
func refuseState(r *job.Run, state record.State) error {
	switch {
	case state == record.StateUndoing:
		return refused(r, plan.NextUndo, fmt.Sprintf("the merge %s is being undone", r.Plan.ID))
	case state == record.StateOpening:
		return refused(r, plan.NextOpen, "it is being opened")
	case state == record.StateOpen:
		return refused(r, plan.NextNone, "it was already made and opened: a game may be running there")
	case state == record.StateTried && !r.Opts.Try:
		return refused(r, plan.NextUndo, "it was made by a rehearsal from worlds that may have been running")
	case state != "" && state != record.StateTried && r.Opts.Try:
		return refused(r, plan.NextApply, "a merge has begun there, and a rehearsal needs a database of its own")
	}
	return nil
}

// refused is an error of apply about the new database.
func refused(r *job.Run, next plan.Next, reason string) error {
	return &record.RefusedError{Doing: "apply", Refusals: []plan.Refusal{{Source: r.New.Name, Reason: reason, Next: next}}}
}

// step is a part of a command, and what it is called.
type step struct {
	doing string
	do    func(ctx context.Context) error
}

// inOrder takes steps, each again until it works.
func inOrder(ctx context.Context, r *job.Run, steps ...step) error {
	for _, s := range steps {
		if err := r.Retry(ctx, s.doing, s.do); err != nil {
			return err
		}
	}
	return nil
}

// asMade refuses if the first world was altered since the plan was made, or if events of a world run, which no fence
// stops. If more is made, it refuses also what cannot be made any more.
func asMade(ctx context.Context, r *job.Run, doing string, more bool) error {
	refused := &record.RefusedError{Doing: doing}
	refuse := func(database string, next plan.Next, reason string) {
		refused.Refusals = append(refused.Refusals, plan.Refusal{Source: database, Reason: reason, Next: next})
	}
	for i, w := range r.Worlds {
		on := &world.Connection{Database: w.Database} // reads what is there now
		defer on.Close()
		if !r.Opts.Try {
			running, err := world.Running(ctx, on)
			if err != nil {
				return err
			}
			for _, o := range running {
				refuse(w.Name, plan.NextAgain, o.String())
			}
		}
		if i > 0 {
			continue
		}
		made, err := world.Read(ctx, on)
		if err != nil {
			return err
		}
		for _, what := range made.Altered(r.Plan.New.Made) {
			refuse(w.Name, plan.NextPlan, what+" since the plan was made")
		}
		if !more {
			continue
		}
		obstacles, err := made.Obstacles(ctx, r.New.Database)
		if err != nil {
			return err
		}
		for _, o := range obstacles {
			if o.There {
				refuse(r.New.Name, plan.NextAgain, o.String())
			} else {
				refuse(w.Name, plan.NextAgain, o.String())
			}
		}
	}
	if len(refused.Refusals) == 0 {
		return nil
	}
	if r.Manifest.Left != "" {
		plan.AfterUndo(refused.Refusals)
	}
	return refused
}

// isNew refuses a database that has anything in it, and no record of this merge.
func isNew(ctx context.Context, r *job.Run) error {
	return r.Retry(ctx, "checking the new database", func(ctx context.Context) error {
		there, err := world.Exists(ctx, r.New.Database)
		if err != nil || !there {
			return err
		}
		found, err := world.Contains(ctx, r.New)
		if err != nil || len(found) == 0 {
			return err
		}
		if now, err := r.Manifest.Load(ctx); err != nil || now != "" { // another process began
			return errors.Join(err, r.Manifest.ExpectState(ctx, ""))
		}
		if r.Manifest.Label.ID != "" {
			return ofOther(r)
		}
		return refused(r, plan.NextNone, fmt.Sprintf("the new database is not empty: it has %q: plan again with the name of one that does not exist", found[0]))
	})
}

// ofOther refuses a database with the record of another merge.
func ofOther(r *job.Run) error {
	return refused(r, plan.NextNone, fmt.Sprintf("it has the record of another merge or rehearsal, %s: undo that, or plan again with another name", r.Manifest.Label.ID))
}

// beginRecord makes the database, and records the merge there.
func beginRecord(ctx context.Context, r *job.Run) error {
	if r.Manifest.Left == "" {
		if r.New.Dialect().MySQL() { // a session that drops looked at the record before: it would drop what is made now
			if lock, err := world.Undoing(ctx, r.New.Database); err != nil || lock != "" {
				return cmp.Or(err, undoing(r, lock))
			}
		}
		s, err := world.Read(ctx, r.Worlds[0])
		if err != nil {
			return err
		}
		label := record.Label{ID: r.Plan.ID, Try: r.Opts.Try, Made: true}
		label.Made, err = s.Create(ctx, r.New.Database, func(ctx context.Context, on *world.Connection) error {
			return (&record.Manifest{On: on, ID: r.Plan.ID}).Create(ctx, label)
		})
		if err != nil {
			return err
		}
		err = r.Manifest.Create(ctx, label)
		if errors.Is(err, record.ErrOther) {
			return ofOther(r)
		}
		if err != nil {
			return err
		}
	}
	r.Began = true
	return r.Manifest.Write(ctx, r.Plan, r.Hooks.Clock())
}

// bringRows copies the rows of all worlds, and makes the indexes of each table when they are there.
func bringRows(ctx context.Context, r *job.Run, made *world.Schema) error {
	if err := r.Retry(ctx, "resuming the work", r.Manifest.TakeUp); err != nil {
		return err
	}
	if err := r.Retry(ctx, "checking which tables are filled", func(ctx context.Context) (err error) {
		r.Tally.Step(r.Plan.Rows())
		r.Full, err = refill(ctx, r)
		return err
	}); err != nil {
		return err
	}
	var parts []plan.Part // the parts of one table come together, so that the database is busy in one place at a time
	left := make([]int, len(r.Plan.Tables))
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		all := partsOf(r, i)
		if r.Full[t.Name] || t.Combine != nil {
			continue
		}
		if len(t.Key) == 0 {
			all = all[:1] // one worker fills it
		}
		parts, left[i] = append(parts, all...), len(all)
	}
	var mu sync.Mutex
	indexed, rows := make(map[string]bool), int64(0)
	index := func(ctx context.Context, w *job.Run, table string) error {
		return w.Retry(ctx, fmt.Sprintf("making the indexes of table %q", table), func(soft context.Context) error {
			if err := w.Manifest.ExpectState(soft, r.Manifest.Working()); err != nil {
				return err
			}
			err := made.MakeIndexes(soft, w.New, table)
			if errors.Is(err, sqldb.ErrDuplicate) { // which was allowed, or came after the plan
				return refused(w, plan.NextUndoPlan, fmt.Sprintf("rows of table %q are equal in a UNIQUE index, so it cannot be made: change them in their worlds: %v", table, err))
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if t := r.Plan.Table(table); t != nil && t.Rows() > 0 && !indexed[table] {
				indexed[table] = true
				rows += t.Rows()
				w.Tally.Beside(job.Progress{Step: record.StepIndex, Database: r.New.Name, Table: table, Rows: rows, Total: r.Plan.Rows()})
			}
			return nil
		})
	}
	err := r.InParallel(ctx, job.Writing, parts, func(ctx context.Context, w *job.Run, p plan.Part) error {
		copies := func() error { return copyPart(ctx, w, p) }
		if t := &w.Plan.Tables[p.Table]; len(t.Key) == 0 {
			copies = func() error { return copyKeyless(ctx, w, t) }
		}
		if err := copies(); err != nil {
			return err
		}
		mu.Lock()
		left[p.Table]--
		last := left[p.Table] == 0
		mu.Unlock()
		if !last {
			return nil
		}
		return index(ctx, w, r.Plan.Tables[p.Table].Name)
	})
	if err != nil {
		return err
	}
	if err := change.Walk(ctx, func(c *change.Change) change.Do[*job.Run] { return c.Bring }, r); err != nil {
		return err
	}
	for _, table := range made.Tables() { // those of which no row came, too
		if err := index(ctx, r, table); err != nil {
			return err
		}
	}
	return nil
}

// raiseCounters gives the counters of the new database their values.
func raiseCounters(ctx context.Context, r *job.Run) error {
	return r.During(ctx, r.Manifest.Working(), func() error {
		if err := bringSequences(ctx, r); err != nil {
			return err
		}
		return change.Walk(ctx, func(c *change.Change) change.Do[*job.Run] { return c.Finish }, r)
	})
}

// complete makes sure that no server ran and no table was altered meanwhile.
func complete(ctx context.Context, r *job.Run) error {
	if r.Opts.Try {
		return r.Manifest.NoteEnd(ctx, record.StateTried)
	}
	if now, err := r.Manifest.Load(ctx); err != nil || now == record.StateMade { // the answer was lost
		r.Manifest.Left = record.StateMade
		return err
	}
	if err := undisturbed(ctx, r); err != nil {
		return err
	}
	if err := r.Unaltered(ctx, "apply", nil); err != nil {
		return err
	}
	if err := asMade(ctx, r, "apply", false); err != nil {
		return err
	}
	return r.Manifest.Advance(ctx, record.StateCopying, record.StateMade)
}
