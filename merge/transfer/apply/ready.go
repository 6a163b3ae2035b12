package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/store/registry"
)

// Ready says what blocks [Apply] now: it makes the checks that Apply makes before its first
// write, and changes no row. It is empty if Apply would begin, or resume a merge that has
// begun. An error means that a database could not be read.
func Ready(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) ([]plan.Refusal, error) {
	return blocking(ctx, plan, target, sources, opts, job.Writing)
}

// Fresh is [Ready] without the checks of rights, for which the target has to be opened for
// writing: it only reads.
func Fresh(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) ([]plan.Refusal, error) {
	return blocking(ctx, plan, target, sources, opts, job.Reading)
}

func blocking(ctx context.Context, p *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options, writes bool) ([]plan.Refusal, error) {
	r, state, err := prepare(ctx, p, target, sources, opts, writes, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	switch state {
	case ledger.StateCopying, ledger.StateMade, ledger.StateProved, ledger.StateCopied:
		return nil, nil
	case ledger.StateUndoing:
		return []plan.Refusal{{Source: r.Target.Name, Reason: fmt.Sprintf("the merge %s is being undone: run undo again to its end first, then plan again", r.Plan.ID)}}, nil
	}
	err = preflight(ctx, r, state)
	if refused, ok := errors.AsType[*ledger.RefusedError](err); ok {
		return refused.Refusals, nil
	}
	return nil, err
}

// Fence keeps the servers of all databases of a merge from being started before [Apply]
// begins: those of the sources if the plan says so, and the target's own. They are the fences
// that Apply sets, so Apply finds its own, and [undo.Undo] and [Unfence] lift them. A campaign sets
// those of all its merges before the first one begins, so that no world of a later merge is
// started meanwhile.
//
// Before it writes it makes the checks of Apply, and returns a [*ledger.RefusedError] if one fails.
// If it is interrupted, the same call resumes. If the merge has begun, nothing is changed.
func Fence(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) error {
	return FenceWith(ctx, plan, target, sources, opts, job.Hooks{})
}

func FenceWith(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options, h job.Hooks) error {
	r, state, err := prepare(ctx, plan, target, sources, opts, job.Writing, h)
	if err != nil {
		return err
	}
	defer r.Close()
	switch state {
	case ledger.StateCopying, ledger.StateMade, ledger.StateProved, ledger.StateCopied:
		return nil
	case ledger.StateUndoing:
		return fmt.Errorf("transfer: the merge %s is being undone: run undo again to its end first", plan.ID)
	}
	if err := preflight(ctx, r, state); err != nil {
		return err
	}
	return r.Retry(ctx, "fencing the databases", func(ctx context.Context) error {
		if r.First != nil {
			return fence(ctx, r, registry.FencePrepared)
		}
		if err := r.Target.Open(ctx); err != nil { // guard needs the pool
			return err
		}
		if err := r.Manifest.ExpectState(ctx, state); err != nil {
			return err
		}
		if err := Guard(ctx, r, "fence", registry.FencePrepared, true); err != nil {
			return err
		}
		return fence(ctx, r, registry.FencePrepared)
	})
}

// Unfence takes back what [Fence] did, if the merge has not begun. If it has, that is a
// [*ledger.RefusedError]: then [undo.Undo] lifts the fences. So it is if a fence does not say that no row came.
func Unfence(ctx context.Context, p *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options) ([]job.Lifted, error) {
	r, state, err := prepare(ctx, p, target, sources, opts, job.Writing, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if state != "" {
		return nil, &ledger.RefusedError{Doing: "lifting the fences", Refusals: []plan.Refusal{{Source: target.Name, Reason: fmt.Sprintf("the merge %s has begun: undo it, which lifts the fences too", p.ID)}}}
	}
	err = r.Retry(ctx, "lifting the fences", func(ctx context.Context) error {
		if r.First == nil {
			if err := IsTarget(ctx, r); err != nil {
				return err
			}
		}
		return LiftWithoutRecord(ctx, r, "lifting the fences")
	})
	return r.Lifted, err
}

// prepare makes a run and looks up the state of its merge.
func prepare(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database, opts job.Options, writes bool, h job.Hooks) (r *job.Run, state ledger.State, err error) {
	if r, err = job.NewRun(plan, target, sources, opts, h); err != nil {
		return nil, "", err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, "", err
	}
	r.Target.Unchecked, r.Target.Writes = true, writes
	err = r.Retry(ctx, "looking at the target", func(ctx context.Context) (err error) {
		state, err = r.State(ctx)
		return err
	})
	if err != nil {
		r.Close()
		return nil, "", err
	}
	return r, state, nil
}

// InUse returns, for each server of a database that blocks a merge, the reason in words: it
// runs, or another merge than that of the ID has fenced it. known is false if the database
// keeps no registry: then only the operator knows whether a game uses it.
func InUse(ctx context.Context, d rowio.Database, merge string) (reasons []string, known bool, err error) {
	db, err := sqldb.Dial(ctx, d.DSN, true)
	if err != nil {
		return nil, false, fmt.Errorf("database %q: %w", d.Name, err)
	}
	defer db.Close()
	var tables []string
	if err := db.Select(ctx, &tables, db.Dialect().TableNames()); err != nil {
		return nil, false, fmt.Errorf("database %q: %w", d.Name, err)
	}
	for _, t := range tables {
		known = known || t == registry.Table
	}
	if !known {
		return nil, false, nil
	}
	now, err := rowio.RegistryOf(db).Servers(ctx)
	if err != nil {
		return nil, true, fmt.Errorf("database %q: %w", d.Name, err)
	}
	return ledger.InUse(now, merge), len(now) > 0, nil
}

// IsTarget returns a [*ledger.RefusedError] if the database cannot be the target of the
// plan, as it was before the merge or earlier: then the merged rows are elsewhere,
// and the sources' fences stay.
func IsTarget(ctx context.Context, r *job.Run) error {
	s, err := rowio.OpenSource(ctx, r.Target.Database)
	if err != nil {
		return err
	}
	defer s.Close()
	reason, altered := "", r.Plan.Altered(0, s, false)
	var now []registry.Server
	if s.Known.HasRegistry {
		if now, err = ledger.Servers(ctx, r.Target.Database); err != nil {
			return err
		}
	}
	switch {
	case altered != "":
		reason = altered
	case slices.ContainsFunc(r.Plan.Target.Servers, func(planned catalog.Server) bool {
		return !slices.ContainsFunc(now, func(n registry.Server) bool { return n.ID == planned.Server && n.World == planned.World })
	}):
		reason = "its registry does not list the worlds of the target"
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		if reason != "" || t.Target.Rows == 0 {
			continue
		}
		rows, err := r.Target.Number(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+r.Target.Dialect().Quote(t.Name)+" LIMIT 1) AS t", false)
		if err != nil {
			return err
		}
		if rows == 0 {
			reason = fmt.Sprintf("table %q is empty and had rows when the merge was planned", t.Name)
		}
	}
	if reason == "" {
		r.Know(s)
		return nil
	}
	return &ledger.RefusedError{Doing: "undo", Refusals: []plan.Refusal{{Source: r.Target.Name, Reason: "this database has no record of the merge and does not look like its target: " + reason +
		"; name the target of the merge; if it is lost, restore it from its backup, or lift the fences of the sources one by one: gameid servers release -h"}}}
}
