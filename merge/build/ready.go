package build

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Ready says what blocks [Apply] now: it makes the checks that Apply makes before its first
// write, counts the rows of the worlds, which Apply sums up as it copies them, and changes no row. It is empty if Apply
// would begin, or resume a merge that has begun. An error means that a database could not be read.
func Ready(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) ([]plan.Refusal, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	return blocking(ctx, plan, into, worlds, opts, job.Writing)
}

// Fresh is [Ready] without the checks of rights, which are tried by writing nothing: it only reads.
func Fresh(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) ([]plan.Refusal, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	return blocking(ctx, plan, into, worlds, opts, job.Reading)
}

func blocking(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database, opts job.Options, writes bool) ([]plan.Refusal, error) {
	r, state, err := prepare(ctx, p, into, worlds, opts, writes, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err = refuseState(r, state); err == nil {
		if state != "" {
			return nil, nil
		}
		err = preflight(ctx, r, state, true)
	}
	if refused, ok := errors.AsType[*record.RefusedError](err); ok {
		return refused.Refusals, nil
	}
	return nil, err
}

// Elsewhere refuses a new database that is not where the plan was made for, and nil if it is there, or if that is not
// known. It is for one that has no record of the merge, by which it would be known.
func Elsewhere(ctx context.Context, p *plan.Plan, into world.Database) (*plan.Refusal, error) {
	now, is, err := otherPlace(ctx, p, into)
	if err != nil || !is {
		return nil, err
	}
	return &plan.Refusal{Source: into.Name, Reason: fmt.Sprintf("the plan was made for %s, and this is %s: give the planned database, or make a new plan for this one", p.New.Place, now)}, nil
}

// Fence keeps the servers of the worlds of a merge from being started before [Apply]
// begins, if the plan says so. They are the fences that Apply sets, so Apply finds its own, and [build.Undo] and [Unfence] lift them. A campaign sets
// those of all its merges before the first one begins, so that no world of a later merge is
// started meanwhile.
//
// Before it writes it makes the checks of Apply, and returns a [*record.RefusedError] if one fails.
// If it is interrupted, the same call resumes. If the merge has begun, nothing is changed.
func Fence(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) error {
	return FenceWith(ctx, plan, into, worlds, opts, job.Hooks{})
}

func FenceWith(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options, h job.Hooks) error {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	r, state, err := prepare(ctx, plan, into, worlds, opts, job.Writing, h)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := refuseState(r, state); err != nil || state != "" {
		return err
	}
	if err := preflight(ctx, r, state, false); err != nil {
		return err
	}
	return r.Retry(ctx, "fencing the databases", func(ctx context.Context) error { return fence(ctx, r) })
}

// Unfence takes back what [Fence] did, if the merge has not begun. If it has, that is a
// [*record.RefusedError]: then [build.Undo] lifts the fences. So it is if a fence says that the game was let in.
func Unfence(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database, opts job.Options) ([]job.Lifted, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	r, state, err := prepare(ctx, p, into, worlds, opts, job.Writing, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if state != "" {
		return nil, &record.RefusedError{Doing: "lifting the fences", Refusals: []plan.Refusal{{Source: into.Name, Reason: fmt.Sprintf("the merge %s has begun", p.ID), Next: plan.NextUndo}}}
	}
	err = r.Retry(ctx, "lifting the fences", func(ctx context.Context) error {
		if err := Lost(ctx, r, "lifting the fences"); err != nil {
			return err
		}
		return LiftFences(ctx, r)
	})
	return r.Lifted, err
}

// prepare makes a run and looks up the state of its merge.
func prepare(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database, opts job.Options, writes bool, h job.Hooks) (r *job.Run, state record.State, err error) {
	if r, err = job.NewRun(plan, into, worlds, opts, h); err != nil {
		return nil, "", err
	}
	if err := plan.Needs(opts.Codecs); err != nil {
		return nil, "", err
	}
	r.New.Unchecked, r.New.Writes = true, writes
	err = r.Retry(ctx, "checking the new database", func(ctx context.Context) (err error) {
		state, err = r.State(ctx)
		return err
	})
	if err != nil {
		r.Close()
		return nil, "", err
	}
	return r, state, nil
}

// InUse is [record.InUse] of a database. known is false if it keeps no registry: then only the operator knows whether
// a game uses it.
func InUse(ctx context.Context, d world.Database, merge string) (refusals []plan.Refusal, known bool, err error) {
	now, err := record.Servers(ctx, d)
	if err != nil {
		return nil, false, fmt.Errorf("database %q: %w", d.Name, err)
	}
	return record.InUse(d.Name, now, merge), len(now) > 0, nil
}

// otherPlace is where a new database is, if that is known to be another place than the plan was made for.
func otherPlace(ctx context.Context, p *plan.Plan, into world.Database) (now sqldb.Place, is bool, err error) {
	now, err = world.PlaceOf(ctx, into)
	if err != nil || p.New.Place == (sqldb.Place{}) {
		return now, false, err
	}
	same, unclear, err := p.New.Place.Same(now, nil)
	return now, !same && unclear == "", err
}
