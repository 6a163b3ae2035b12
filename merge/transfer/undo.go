package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
	"mergesafe/store/registry"
)

// UndoOptions configures [Undo].
type UndoOptions struct {
	Options

	// Force also removes rows that were changed since they were copied. The players'
	// changes to them are lost.
	Force bool
}

// Undone is the result of [Undo]. Beside an error it says how far the undo came: a
// batch whose COMMIT got no answer may be removed and not counted yet.
type Undone struct {
	ID   string `json:"id"`
	Rows int64  `json:"rows"` // removed, by this call

	// Parts are the rows of the sources that this call and earlier ones handled, by
	// table and source in the order of the plan. Rows that were gone before count too.
	Parts []PartResult `json:"-"`

	// Changed rows are not as they were copied, Missing rows are gone. They
	// block the undo, unless it is forced.
	Changed int64        `json:"changed"`
	Missing int64        `json:"missing"`
	Samples []Difference `json:"samples,omitempty"` // the first of them

	// SameAsBefore says that every table that was copied or emptied holds exactly the rows
	// that the plan found in it. Tables are the others.
	SameAsBefore bool          `json:"same_as_before"`
	Tables       []UndoneTable `json:"tables,omitempty"`

	// NoRecord says that the target has no record of the merge: it had not begun, or an
	// earlier undo took it back and was interrupted at its very end. Lifted are the fences. If
	// none was left, SameAsBefore is set: the rows of the target were read.
	NoRecord bool     `json:"no_record,omitempty"`
	Lifted   []Lifted `json:"lifted,omitempty"` // by this call
}

// Lifted is a server whose fence was lifted.
type Lifted struct {
	Database string `json:"database"`
	Server   string `json:"server"`
}

// Undo takes a merge out of the target again, completed or not: the rows that
// were copied and are as they were copied, the renames of the target's own rows,
// the rows removed from emptied tables (they are put back), the entries in the registry, the fences in the sources, the record of the merge
// itself and finally the fences in the target. Rows that a game added meanwhile
// stay.
//
// It needs the sources as they were copied: they show which rows to remove. A source
// that was changed since is a [*ChangedError].
//
// Before it writes anything it compares all rows. It returns a [*RefusedError] if
// a game server runs on the target, if another merge came later, if the rows of an emptied
// table are not kept any more or the game has made rows with their keys, if rows were changed
// since and Force is not set, or if rows that did not come with the merge reference rows that
// did.
//
// When all is removed, it makes sure that no row of the merge is in the target and that the own
// rows that the merge changed are as they were; otherwise it returns a [*NotUndoneError], and the
// record of the merge stays. Other own rows may differ: see [UndoneTable].
//
// If it is interrupted, the same call resumes, as with [Apply]. It returns a
// result beside an error too, unless it could not read the target.
//
// A target without a record of the merge may be another copy of it, while the rows are elsewhere. Undo
// lifts fences there only if they say that no row of the merge is in the target: a campaign had only
// prepared it, or an undo had removed them all. Other fences, and another database than the target,
// are a [*RefusedError]. If there are no fences, all is well if the target holds what it held when
// the merge was planned; otherwise the error is [ErrNoMerge].
func Undo(ctx context.Context, plan *Plan, target Database, sources []Database, opts UndoOptions) (*Undone, error) {
	return undoWith(ctx, plan, target, sources, opts, hooks{})
}

func undoWith(ctx context.Context, plan *Plan, target Database, sources []Database, opts UndoOptions, h hooks) (*Undone, error) {
	r, err := newRun(plan, target, sources, opts.Options, h)
	if err != nil {
		return nil, err
	}
	if err := plan.needs(opts.Codecs); err != nil {
		return nil, err
	}
	defer r.close()
	r.target.unchecked = true // what references the rows is looked for before
	state, err := r.begin(ctx, StepUndo)
	if err != nil {
		return nil, err
	}
	if state == "" {
		return r.undoWithoutRecord(ctx)
	}
	u := &undo{run: r, force: opts.Force, done: &Undone{ID: plan.ID}}
	err = u.outrun(ctx, u.undo(ctx, state))
	u.done.Parts, _ = r.partResults()
	u.done.Rows, u.done.Lifted = r.tally.rows, r.lifted
	if left, ok := errors.AsType[*NotUndoneError](err); ok && u.done.Tables == nil {
		u.done.Tables = left.Tables // the rest was not looked at
	}
	return u.done, err
}

// undoWithoutRecord ends an undo that was interrupted at its very end, or takes back what was only
// prepared.
func (r *run) undoWithoutRecord(ctx context.Context) (*Undone, error) {
	if err := r.retry(ctx, "checking whether this is the target", r.isTarget); err != nil {
		return nil, err
	}
	err := r.retry(ctx, "lifting the fences", func(ctx context.Context) error { return r.liftWithoutRecord(ctx, "undo") })
	if err == nil {
		err = r.retry(ctx, "removing the tables of the merge", r.manifest.remove)
	}
	if err != nil {
		return nil, err
	}
	if len(r.lifted) > 0 {
		return &Undone{ID: r.plan.ID, NoRecord: true, Lifted: r.lifted}, nil
	}
	differing, err := r.unlike(ctx)
	if err != nil {
		return nil, err
	}
	if len(differing) == 0 {
		return &Undone{ID: r.plan.ID, NoRecord: true, SameAsBefore: true}, nil
	}
	return nil, fmt.Errorf("transfer: %w: %q has no record of the merge %s, and does not hold what it held when that was planned: %v",
		ErrNoMerge, r.target.Name, r.plan.ID, differing[0])
}

// isTarget returns a [*RefusedError] if the database cannot be the target of the
// plan, as it was before the merge or earlier: then the merged rows are elsewhere,
// and the sources' fences stay.
func (r *run) isTarget(ctx context.Context) error {
	s, err := openSource(ctx, r.target.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	reason, altered := "", r.plan.altered(0, s, false)
	var now []registry.Server
	if s.catalog.HasRegistry {
		if now, err = servers(ctx, r.target.Database); err != nil {
			return err
		}
	}
	switch {
	case altered != "":
		reason = altered
	case slices.ContainsFunc(r.plan.Target.Servers, func(planned merge.Server) bool {
		return !slices.ContainsFunc(now, func(n registry.Server) bool { return n.ID == planned.Server && n.World == planned.World })
	}):
		reason = "its registry does not list the worlds of the target"
	}
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		if reason != "" || t.Target.Rows == 0 {
			continue
		}
		rows, err := r.target.number(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+r.target.dialect().Quote(t.Name)+" LIMIT 1) AS t", false)
		if err != nil {
			return err
		}
		if rows == 0 {
			reason = fmt.Sprintf("table %q is empty and had rows when the merge was planned", t.Name)
		}
	}
	if reason == "" {
		r.know(s)
		return nil
	}
	return &RefusedError{Doing: "undo", Refusals: []Refusal{{Source: r.target.Name, Reason: "this database has no record of the merge and does not look like its target: " + reason +
		"; name the target of the merge; if it is lost, restore it from its backup, or lift the fences of the sources one by one: gameid servers release -h"}}}
}

// ErrNoMerge says that neither the target nor a fence has a record of the merge.
var ErrNoMerge = errors.New("no such merge")

type undo struct {
	*run
	force  bool
	done   *Undone
	copied map[part]*copied // what is to be removed, as it was read before; none if nothing was copied

	dangling map[columnAt]int64 // rows that referred to nothing when this call began
}

func (u *undo) undo(ctx context.Context, state State) error {
	if state == StateCopying || state == StateUndoing {
		if err := u.mendResets(ctx, u.mendKept); err != nil {
			return err
		}
	}
	if err := u.prepare(ctx, state); err != nil {
		return err
	}
	steps := []func(context.Context) error{u.remove, u.separate, u.restoreOwn, u.fillTables, u.lowerCounters,
		u.compareWithBefore, u.complete, u.dropKept}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	err := u.retry(ctx, "lifting the fences", func(ctx context.Context) error {
		return u.during(ctx, StateUndoing, func() error { return u.liftFences(ctx) })
	})
	if err != nil {
		return err
	}
	if err := u.retry(ctx, "noting in the fences that the rows are gone", u.guardUndone); err != nil {
		return err
	}
	if err := u.retry(ctx, "removing the record of the merge", u.manifest.remove); err != nil {
		return err
	}
	return u.release(ctx)
}

// lowerCounters sets the counters in rows back.
func (u *undo) lowerCounters(ctx context.Context) error {
	return u.retry(ctx, "setting back counters", func(ctx context.Context) error {
		return u.during(ctx, StateUndoing, func() error { return u.raiseRowCounters(ctx, true) })
	})
}

// complete sets back the other counters and the registry, when nothing of the merge is left.
func (u *undo) complete(ctx context.Context) error {
	return u.retry(ctx, "setting back counters and registry", func(ctx context.Context) error {
		if err := u.checkReferences(ctx, "let these rows reference other rows or remove them, then run undo again", u.dangling); err != nil {
			return err
		}
		err := u.during(ctx, StateUndoing, func() error {
			if err := u.forgetKeys(ctx); err != nil {
				return err
			}
			return u.setCounters(ctx, true)
		})
		if err != nil || !u.registry {
			return err
		}
		if err := u.hooks.fail.at("before lineage"); err != nil {
			return err
		}
		u.target.drop() // SQLite has one writer at a time
		return u.target.db.InTx(ctx, func(tx *sqldb.Tx) error {
			if err := u.manifest.stillIn(ctx, tx, StateUndoing); err != nil {
				return err
			}
			return registryOf(u.target.db).RemoveMerged(ctx, tx.Begun(), mergedServers(u.plan)...)
		})
	})
}

// prepare looks for everything that blocks the undo, and then records in the
// target that it began.
func (u *undo) prepare(ctx context.Context, state State) error {
	const then = "alter them back, or restore this database from its backup; then run undo again"
	if err := u.unaltered(ctx, "undo", then); err != nil {
		return err
	}
	var reasons []Refusal
	refuse := func(format string, args ...any) {
		reasons = append(reasons, Refusal{Source: u.target.Name, Reason: fmt.Sprintf(format, args...)})
	}
	var progress string // of an apply that may still run
	err := u.retry(ctx, "reading the databases", func(soft context.Context) (err error) {
		reasons = nil
		if state == StateCopying {
			if progress, err = u.manifest.progress(soft); err != nil {
				return err
			}
		}
		s, err := openSource(soft, u.target.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		u.know(s)
		u.triggersNow(s, true, func(table, reason string) {
			reasons = append(reasons, Refusal{Source: u.target.Name, Table: table, Reason: reason})
		})
		if u.registry {
			now, err := servers(soft, u.target.Database)
			if err != nil {
				return err
			}
			for _, reason := range inUse(now, u.plan.ID) {
				refuse("%s", reason)
			}
		}
		if u.dangling, err = u.danglingRows(soft); err != nil {
			return err
		}
		flight := &flight{run: u.run, begun: true}
		if err := flight.rights(soft); err != nil {
			return err
		}
		reasons = append(reasons, flight.reasons...)
		ids, err := u.manifest.later(soft)
		if len(ids) > 0 {
			refuse("the merge %s came later: undo that first", strings.Join(ids, ", "))
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(reasons) == 0 && state != StatePreparing {
		reasons, err = u.compareKept(ctx)
		if err != nil {
			return err
		}
	}
	if len(reasons) == 0 && state != StatePreparing {
		if reasons, err = u.compareAll(ctx, state == StateUndoing); err != nil {
			return err
		}
		more, err := u.compareResets(ctx, state)
		if err != nil {
			return err
		}
		reasons = append(reasons, more...)
	}
	if len(reasons) > 0 {
		return &RefusedError{Doing: "undo", Refusals: reasons}
	}
	err = u.retry(ctx, "fencing the target", func(ctx context.Context) error {
		if err := u.manifest.yet(ctx, state); err != nil {
			return err
		}
		return u.guard(ctx, "undo", registry.FenceMerging, false)
	})
	if _, refused := errors.AsType[*RefusedError](err); refused && state == StateCopied {
		if lifting := u.release(ctx); lifting != nil {
			return lifting
		}
	}
	if err != nil {
		return err
	}
	return u.retry(ctx, "beginning the undo", func(ctx context.Context) error { return u.beginRemoving(ctx, state, progress) })
}

// beginRemoving records in the target that the undo began: from then on an apply copies nothing
// more. What it copied until then is what was compared, if the progress is what it was before.
func (u *undo) beginRemoving(ctx context.Context, state State, progress string) error {
	if state != StateCopying {
		return u.manifest.advance(ctx, state, StateUndoing)
	}
	return u.target.tx(ctx, func() error {
		is, err := u.manifest.lock(ctx, alone)
		if err == nil && is == StateCopying {
			var now string
			if now, err = u.manifest.progress(ctx); err == nil && now != progress {
				err = fmt.Errorf("%w: it copied more rows while this one compared those to be removed: end that process, then run undo again", ErrBusy)
			}
		}
		if err != nil {
			return err
		}
		return u.manifest.advance(ctx, state, StateUndoing)
	})
}
