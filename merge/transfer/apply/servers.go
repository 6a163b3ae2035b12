package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/store/registry"
)

// fence keeps the servers of the worlds from being started, if the plan says
// so, and then makes sure that their registries are those of the plan.
func fence(ctx context.Context, r *job.Run, state registry.FenceState) error {
	return eachFence(ctx, r, "fencing", func(db *sqldb.DB, w plan.World) error {
		if err := r.Hooks.Fail.At("before fence"); err != nil {
			return err
		}
		if err := fenceWorld(ctx, r, db, w, state); err != nil {
			return err
		}
		now, err := rowio.RegistryOf(db).Servers(ctx)
		if err != nil {
			return err
		}
		if reason := ledger.ChangedServers(w, now); reason != "" {
			return fmt.Errorf("%s since the plan was made: a game server has run; undo the merge and plan again", reason)
		}
		return r.Hooks.Fail.At("after fence")
	})
}

// MarkFences changes the state of the fences of the worlds.
func MarkFences(ctx context.Context, r *job.Run, state registry.FenceState) error {
	for _, c := range r.Worlds {
		c.Drop()
	}
	return eachFence(ctx, r, "marking the fence of", func(db *sqldb.DB, w plan.World) error {
		return fenceWorld(ctx, r, db, w, state)
	})
}

// fenceWorld fences the own servers of a world.
func fenceWorld(ctx context.Context, r *job.Run, db *sqldb.DB, w plan.World, state registry.FenceState) error {
	for _, s := range w.Servers {
		if s.Own {
			fence := state.In(registry.FenceTo(r.Plan.ID, r.Plan.New.Name, r.Hooks.Clock()))
			if err := rowio.RegistryOf(db).Fence(ctx, s.Server, fence); err != nil {
				return err
			}
		}
	}
	return nil
}

// LiftFences lets the servers of the worlds start again, if their fences are in one of these
// states, or if none is given.
func LiftFences(ctx context.Context, r *job.Run, states ...registry.FenceState) error {
	for _, c := range r.Worlds {
		c.Drop()
	}
	err := eachFence(ctx, r, "lifting the fence of", func(db *sqldb.DB, w plan.World) error {
		return lift(ctx, r, rowio.RegistryOf(db), w.Name, states)
	})
	if err == nil {
		err = r.Hooks.Fail.At("after lifting")
	}
	return err
}

// noRowsCame are the states of fences that are lifted though there is no record of the merge.
var noRowsCame = []registry.FenceState{registry.FencePrepared, registry.FenceDropping}

// LiftWithoutRecord lifts all fences of a merge of which there is no record. If one of them does not
// say that no row of the merge came, it changes nothing and returns a [*ledger.RefusedError]: the new
// database may be under another name, and to lift the fence would let the world live twice.
func LiftWithoutRecord(ctx context.Context, r *job.Run, doing string) error {
	if err := otherCopies(ctx, r, doing); err != nil {
		return err
	}
	return LiftFences(ctx, r, noRowsCame...)
}

// otherCopies returns a [*ledger.RefusedError] if a fence does not say that no row of the merge came,
// though there is no record of it: the rows may be in a database of another name.
func otherCopies(ctx context.Context, r *job.Run, doing string) error {
	refused := &ledger.RefusedError{Doing: doing}
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		now, err := ledger.Servers(ctx, r.Worlds[i].Database)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		for _, s := range now {
			if f, _ := registry.FenceOf(s.Holder); s.Fenced(r.Plan.ID) && !slices.Contains(noRowsCame, f.State) {
				stillFenced(r, refused, w.Name, s.ID)
			}
		}
	}
	if len(refused.Refusals) == 0 {
		return nil
	}
	if now, err := r.State(ctx); err != nil || now != "" { // another process recorded it meanwhile
		return errors.Join(err, r.Manifest.WrongState(now, ""))
	}
	return refused
}

// stillFenced says of a fence that it stays, and how to lift it.
func stillFenced(r *job.Run, e *ledger.RefusedError, database string, server gameid.ServerID) {
	into := r.New.Name
	e.Refusals = append(e.Refusals, plan.Refusal{Source: database, Reason: fmt.Sprintf("server %s is fenced by this merge, "+
		"of which there is no record: the new database %q is not there, or is another one: its rows, and all that was played there, "+
		"may be under another name: name the database that has the record", server, into)})
	e.Lifting = append(e.Lifting, fmt.Sprintf("gameid servers release -server %s -apply -reason %s -fence %s %s",
		server, printable.Quoted(into+" is gone"), r.Plan.ID, printable.Quoted(database)))
}

// eachFence calls f with every world that rows come from and that the plan fences.
func eachFence(ctx context.Context, r *job.Run, doing string, f func(db *sqldb.DB, w plan.World) error) error {
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		db, err := sqldb.Dial(ctx, r.Worlds[i].DSN, false)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		err = f(db, w)
		db.Close()
		if err != nil {
			return fmt.Errorf("%s %q: %w", doing, w.Name, err)
		}
	}
	return nil
}
