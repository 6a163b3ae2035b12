package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// State returns the state of the merge by its record; "" if the new database does not know of it, or does not exist.
func (r *Run) State(ctx context.Context) (record.State, error) {
	if there, err := world.Exists(ctx, r.New.Database); err != nil || !there {
		r.Manifest.Label = record.Label{}
		return "", err
	}
	is, err := r.Manifest.Load(ctx)
	if errors.Is(err, sqldb.ErrChanged) { // the file is another by now
		r.New.Drop()
		is, err = r.Manifest.Load(ctx)
	}
	return is, err
}

// Begin returns the state of the merge: the later of its record's and what the fences say, since a database can be
// restored from a copy.
func (r *Run) Begin(ctx context.Context) (record.State, error) {
	is, err := r.Recorded(ctx)
	if err != nil {
		return "", err
	}
	err = r.Retry(ctx, "checking the fences", func(ctx context.Context) (err error) {
		is, err = r.Later(ctx, is)
		return err
	})
	return is, err
}

// Recorded is [Run.State] as this process finds it when it begins.
func (r *Run) Recorded(ctx context.Context) (is record.State, err error) {
	err = r.Retry(ctx, "reading the record", func(ctx context.Context) (err error) {
		is, err = r.State(ctx)
		return err
	})
	r.Manifest.Left = is
	return is, err
}

// Later is the later of the state of a record and what the fences say.
func (r *Run) Later(ctx context.Context, recorded record.State) (record.State, error) {
	if recorded != record.StateCopying && recorded != record.StateMade {
		return recorded, nil // the fences say nothing later; without a record see [build.Lost]
	}
	say, err := r.FencesSay(ctx)
	if say == record.StateOpening {
		recorded = say
	}
	return recorded, err
}

// Behind reports whether the new database is a copy from before the opening of the merge, which is in that state:
// open writes its record before it marks the fences.
func (r *Run) Behind(state record.State) bool {
	return state == record.StateOpening && r.Manifest.Left != record.StateOpening
}

// Kept refuses a new database that was made, and is in a state, if it is a copy from before its opening, if a world is another
// one than was planned, or if one may have run without the fence of the merge.
func (r *Run) Kept(ctx context.Context, doing string, state record.State) error {
	if r.Behind(state) {
		return &record.RefusedError{Doing: doing, Refusals: []plan.Refusal{{Source: r.New.Name, Next: plan.NextNone, Reason: "the fences of its worlds say " +
			"that the merge was opened, but this database is a copy from before that: give the opened database; if it is lost for good, undo -force " +
			"drops this copy and raises the reserved times of the worlds, then plan again; what counters gave in the opened one is not known then"}}}
	}
	return r.Retry(ctx, "checking the fences", func(ctx context.Context) error {
		now, err := r.planned(ctx, doing)
		if err == nil {
			err = r.fenced(now)
		}
		if changed, is := errors.AsType[*record.ChangedError](err); is {
			return &record.RefusedError{Doing: doing, Refusals: []plan.Refusal{{Source: changed.Database, Reason: changed.Reason +
				": its game may have run since, so the world would exist twice", Next: plan.NextUndoPlan}}}
		}
		return err
	})
}

// SameWorlds refuses other worlds than the planned ones: the configuration may name them since.
func (r *Run) SameWorlds(ctx context.Context, doing string) error {
	_, err := r.planned(ctx, doing)
	return err
}

// planned is SameWorlds, and returns what their registries list.
func (r *Run) planned(ctx context.Context, doing string) (now [][]worldregistry.Server, err error) {
	now = make([][]worldregistry.Server, len(r.Worlds))
	return now, r.RefuseWorlds(doing, func(i int, d world.Database) (reason string, err error) {
		if now[i], reason, err = record.Another(ctx, r.Plan.Worlds[i], d); err == nil && reason == "" {
			reason, err = r.isNew(ctx, d)
		}
		return reason, err
	})
}

// isNew says of a database given as a world that it is the new one, or a copy of that: its registry lists the servers of the
// first world, too. It is "" if it is not.
func (r *Run) isNew(ctx context.Context, d world.Database) (reason string, err error) {
	if there, err := world.Exists(ctx, d); err != nil || !there {
		return "", err
	}
	on := &world.Connection{Database: d}
	defer on.Close()
	is, err := (&record.Manifest{On: on, ID: r.Plan.ID}).Load(ctx)
	if err == nil && is != "" {
		reason = "it has the record of this merge, so it is the new database or a copy of that, and not this world: give NEW first, then the worlds in the order of the plan"
	}
	return reason, err
}

// RefuseWorlds returns a [*record.RefusedError] with the reason of each world for which there is one.
func (r *Run) RefuseWorlds(doing string, why func(i int, d world.Database) (reason string, err error)) error {
	refused := &record.RefusedError{Doing: doing}
	for i, c := range r.Worlds {
		reason, err := why(i, c.Database)
		if err != nil {
			return err
		}
		if reason != "" {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: reason})
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	return nil
}

// Fenced makes sure that the worlds have the fences of this merge, and have not run.
func (r *Run) Fenced(ctx context.Context) (err error) {
	now := make([][]worldregistry.Server, len(r.Worlds))
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		if now[i], err = record.Servers(ctx, r.Worlds[i].Database); err != nil {
			return fmt.Errorf("checking the fence of %q: %w", w.Name, err)
		}
	}
	return r.fenced(now)
}

func (r *Run) fenced(now [][]worldregistry.Server) error {
	for i, w := range r.Plan.Worlds {
		if reason := record.NotKept(w, now[i], r.Plan.ID); w.Fence && reason != "" {
			return &record.ChangedError{Database: w.Name, Reason: reason}
		}
	}
	return nil
}

// FencesSay is the state of a merge as far as its fences tell: [record.StateOpening] if one says that the game may have
// been let in, [record.StateUndoing] if one says that an undo drops the new database, [record.StateCopying] if there
// are others, and "" without one.
func (r *Run) FencesSay(ctx context.Context) (record.State, error) {
	now := make([][]worldregistry.Server, len(r.Worlds))
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		var err error
		if now[i], err = record.Servers(ctx, r.Worlds[i].Database); err != nil {
			return "", fmt.Errorf("database %q: %w", w.Name, err)
		}
	}
	return r.FencesOf(now), nil
}

// FencesOf is [Run.FencesSay] of what the registries of the worlds list.
func (r *Run) FencesOf(now [][]worldregistry.Server) (say record.State) {
	for i := range now {
		for _, s := range now[i] {
			f, _ := worldregistry.FenceOf(s.Holder)
			switch {
			case !s.Fenced(r.Plan.ID):
			case f.State == worldregistry.FenceDropping:
				return record.StateUndoing // which follows all others
			case f.State == worldregistry.FenceMerging:
				say = cmp.Or(say, record.StateCopying)
			default:
				say = record.StateOpening
			}
		}
	}
	return say
}
