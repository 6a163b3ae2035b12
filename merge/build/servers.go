package build

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
)

// fence keeps the servers of the worlds from being started, and then makes sure that their registries are those
// of the plan. If one of them is not, or a server runs, the fences that this call set are lifted again, and the error
// is a [*record.RefusedError].
func fence(ctx context.Context, r *job.Run) error {
	type fenced struct {
		world  int
		server gameid.ServerID
	}
	var set []fenced
	refused := &record.RefusedError{Doing: "apply"}
	err := eachFence(ctx, r, "fencing", func(i int, reg *worldregistry.Registry) error {
		w := &r.Plan.Worlds[i]
		refuse := func(next plan.Next, reason string) {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: w.Name, Reason: reason, Next: next})
		}
		before, err := reg.Servers(ctx)
		if err != nil {
			return err
		}
		if err := r.Hooks.Fail.At("before fence"); err != nil {
			return err
		}
		for _, s := range before {
			if s.Role != worldregistry.RoleOwn {
				continue
			}
			err := reg.Fence(ctx, s.ID, worldregistry.FenceTo(r.Plan.ID, r.Plan.New.Name, r.Hooks.Clock()))
			if held, is := errors.AsType[*gameid.HeldError](err); is {
				refuse(plan.NextAgain, worldregistry.Explain(held).Error())
				continue
			}
			if err != nil {
				return err
			}
			if !s.Fenced(r.Plan.ID) {
				set = append(set, fenced{i, s.ID})
			}
		}
		now, err := reg.Servers(ctx)
		if err != nil {
			return err
		}
		if reason := record.ChangedServers(*w, now); reason != "" {
			refuse(plan.NextUndoPlan, reason+" since the plan was made: a game server has run")
		}
		return r.Hooks.Fail.At("after fence")
	})
	if err != nil || len(refused.Refusals) == 0 {
		return err
	}
	err = eachFence(ctx, r, "lifting the fence of", func(i int, reg *worldregistry.Registry) error {
		for _, f := range set {
			if f.world != i {
				continue
			}
			if err := reg.LiftFence(ctx, f.server, r.Plan.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(refused, err)
}

// MarkFences changes the state of the fences that the worlds have. Where one has none, nothing changes, and the error
// is [worldregistry.ErrNoFence].
func MarkFences(ctx context.Context, r *job.Run, state worldregistry.FenceState) error {
	for _, c := range r.Worlds {
		c.Drop()
	}
	return eachFence(ctx, r, "marking the fence of", func(i int, reg *worldregistry.Registry) error {
		for _, s := range r.Plan.Worlds[i].Servers {
			if !s.Own {
				continue
			}
			if err := reg.MarkFence(ctx, s.Server, r.Plan.ID, state); err != nil {
				return err
			}
		}
		return nil
	})
}

// LiftFences lets the servers of the worlds start again, if there is no record of the merge. Whoever makes the merge
// again, perhaps while this process is frozen, writes its record first and its fences anew: those are not lifted. Nor is it
// this process that ends an undo, if there is the record of a later merge by now.
func LiftFences(ctx context.Context, r *job.Run) error {
	for _, c := range r.Worlds {
		c.Drop()
	}
	servers := make([][]worldregistry.Server, len(r.Worlds))
	err := eachFence(ctx, r, "reading the fence of", func(i int, reg *worldregistry.Registry) (err error) {
		servers[i], err = reg.Servers(ctx)
		return err
	})
	if err == nil {
		r.New.Drop()
		var is record.State
		if is, err = r.State(ctx); err == nil && (is != "" || r.Manifest.Removing && !r.Manifest.Removed()) {
			err = r.Manifest.WrongState(is, "")
		}
	}
	if err == nil {
		err = r.Hooks.Fail.At("before lifting")
	}
	if err == nil {
		err = eachFence(ctx, r, "lifting the fence of", func(i int, reg *worldregistry.Registry) error {
			return lift(ctx, r, reg, r.Plan.Worlds[i].Name, servers[i])
		})
	}
	if err == nil {
		err = r.Hooks.Fail.At("after lifting")
	}
	return err
}

// Lost returns a [*record.RefusedError] if the fences say that a game was let into the new database, though there is no
// record of it: its rows are in a database of another name, or it was dropped.
func Lost(ctx context.Context, r *job.Run, doing string) error {
	say, err := r.FencesSay(ctx)
	if err != nil || say != record.StateOpening {
		return err
	}
	if now, err := r.State(ctx); err != nil || now != "" { // another process recorded it meanwhile
		return errors.Join(err, r.Manifest.WrongState(now, ""))
	}
	return &record.RefusedError{Doing: doing, Refusals: []plan.Refusal{{Source: r.New.Name,
		Reason: OpenedMissing(printable.Text(r.New.Name)) + ": give the database that has the record; if it is lost for good, undo -force lifts the fences"}}}
}

// OpenedMissing says of a new database, or of its place, what [Lost] and [Status.Lost] found.
func OpenedMissing(into string) string {
	return "the fences of its worlds say that it was opened, but " + into + " is missing or has another name, with all changes that players made there"
}

// OpenedOlder says of a new database, or of its place, what [job.Run.Behind] and [Status.Behind] found.
func OpenedOlder(into string) string {
	return "the fences of its worlds say that it was opened, but " + into + " is a copy from before that"
}

// eachFence calls f with the registry of every world that has own servers in one, by its number.
func eachFence(ctx context.Context, r *job.Run, doing string, f func(i int, reg *worldregistry.Registry) error) error {
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		db, err := sqldb.Dial(ctx, r.Worlds[i].DSN, sqldb.WriteExisting)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		err = r.Worlds[i].Held(ctx, f(i, worldregistry.New(db)))
		db.Close()
		if err != nil {
			return fmt.Errorf("%s %q: %w", doing, w.Name, err)
		}
	}
	return nil
}
