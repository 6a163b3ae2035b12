package transfer

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/store/registry"
)

// Ready says what blocks [Apply] now: it makes the checks that Apply makes before its first
// write, and changes no row. It is empty if Apply would begin, or resume a merge that has
// begun. An error means that a database could not be read.
func Ready(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Refusal, error) {
	return blocking(ctx, plan, target, sources, opts, writing)
}

// Fresh is [Ready] without the checks of rights, for which the target has to be opened for
// writing: it only reads.
func Fresh(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Refusal, error) {
	return blocking(ctx, plan, target, sources, opts, reading)
}

func blocking(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options, writes bool) ([]Refusal, error) {
	r, state, err := prepare(ctx, plan, target, sources, opts, writes, hooks{})
	if err != nil {
		return nil, err
	}
	defer r.close()
	switch state {
	case StateCopying, StateCopied:
		return nil, nil
	case StateUndoing:
		return []Refusal{{Source: r.target.Name, Reason: fmt.Sprintf("the merge %s is being undone: run undo again to its end first, then plan again", r.plan.ID)}}, nil
	}
	err = r.preflight(ctx, state)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Refusals, nil
	}
	return nil, err
}

// Fence keeps the servers of all databases of a merge from being started before [Apply]
// begins: those of the sources if the plan says so, and the target's own. They are the fences
// that Apply sets, so Apply finds its own, and [Undo] and [Unfence] lift them. A campaign sets
// those of all its merges before the first one begins, so that no world of a later merge is
// started meanwhile.
//
// Before it writes it makes the checks of Apply, and returns a [*RefusedError] if one fails.
// If it is interrupted, the same call resumes. If the merge has begun, nothing is changed.
func Fence(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) error {
	return fenceWith(ctx, plan, target, sources, opts, hooks{})
}

func fenceWith(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options, h hooks) error {
	r, state, err := prepare(ctx, plan, target, sources, opts, writing, h)
	if err != nil {
		return err
	}
	defer r.close()
	switch state {
	case StateCopying, StateCopied:
		return nil
	case StateUndoing:
		return fmt.Errorf("transfer: the merge %s is being undone: run undo again to its end first", plan.ID)
	}
	if err := r.preflight(ctx, state); err != nil {
		return err
	}
	return r.retry(ctx, "fencing the databases", func(ctx context.Context) error {
		if err := r.target.open(ctx); err != nil { // guard needs the pool
			return err
		}
		if err := r.manifest.yet(ctx, state); err != nil {
			return err
		}
		if err := r.guard(ctx, "fence", registry.FencePrepared, true); err != nil {
			return err
		}
		return r.fence(ctx, registry.FencePrepared)
	})
}

// Unfence takes back what [Fence] did, if the merge has not begun. If it has, that is a
// [*RefusedError]: then [Undo] lifts the fences. So it is if a fence does not say that no row came.
func Unfence(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options) ([]Lifted, error) {
	r, state, err := prepare(ctx, plan, target, sources, opts, writing, hooks{})
	if err != nil {
		return nil, err
	}
	defer r.close()
	if state != "" {
		return nil, &RefusedError{Doing: "lifting the fences", Refusals: []Refusal{{Source: target.Name, Reason: fmt.Sprintf("the merge %s has begun: undo it, which lifts the fences too", plan.ID)}}}
	}
	err = r.retry(ctx, "lifting the fences", func(ctx context.Context) error {
		if err := r.isTarget(ctx); err != nil {
			return err
		}
		return r.liftWithoutRecord(ctx, "lifting the fences")
	})
	return r.lifted, err
}

// prepare makes a run and looks up the state of its merge.
func prepare(ctx context.Context, plan *Plan, target Database, sources []Database, opts Options, writes bool, h hooks) (r *run, state State, err error) {
	if r, err = newRun(plan, target, sources, opts, h); err != nil {
		return nil, "", err
	}
	if err := plan.needs(opts.Codecs); err != nil {
		return nil, "", err
	}
	r.target.unchecked, r.target.writes = true, writes
	err = r.retry(ctx, "looking at the target", func(ctx context.Context) (err error) {
		if err := r.target.exists(ctx); err != nil {
			return err
		}
		state, err = r.manifest.load(ctx)
		return err
	})
	if err != nil {
		r.close()
		return nil, "", err
	}
	return r, state, nil
}

// InUse returns, for each server of a database that blocks a merge, the reason in words: it
// runs, or another merge than that of the ID has fenced it. known is false if the database
// keeps no registry: then only the operator knows whether a game uses it.
func InUse(ctx context.Context, d Database, merge string) (reasons []string, known bool, err error) {
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
	now, err := registryOf(db).Servers(ctx)
	if err != nil {
		return nil, true, fmt.Errorf("database %q: %w", d.Name, err)
	}
	return inUse(now, merge), len(now) > 0, nil
}
