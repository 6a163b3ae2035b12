package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/store/registry"
)

// servers reads the registry of a database.
func servers(ctx context.Context, d Database) ([]registry.Server, error) {
	db, err := sqldb.Dial(ctx, d.DSN, true)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return registryOf(db).Servers(ctx)
}

// inUse returns, for each server of a registry that blocks a merge, the reason:
// it runs, or another merge has fenced it. token is that of the merge's own
// fence.
func inUse(servers []registry.Server, token string) (reasons []string) {
	for _, s := range servers {
		if f, ok := registry.FenceOf(s.Holder); ok && !s.Fenced(token) && f.Here {
			if reason := unfinished(f.Merge); !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		} else if ok && !s.Fenced(token) && f.State == registry.FencePrepared {
			reasons = append(reasons, fmt.Sprintf("server %s is fenced: %s: leave it out, or undo that merge first", s.ID, f))
		} else if ok && !s.Fenced(token) {
			reasons = append(reasons, fmt.Sprintf("server %s is fenced: its world went to %q by another merge, on %s: leave it out, or undo that merge first",
				s.ID, f.Into, printable.Time(f.Since)))
		} else if !s.FenceFree(token) {
			reasons = append(reasons, fmt.Sprintf("server %s runs: it is held by %s until %s: stop it first",
				s.ID, s.Holder, printable.Time(s.LeaseUntil)))
		}
	}
	return reasons
}

// unfinished is why a database with a merge that has begun takes part in no other.
func unfinished(merge string) string {
	return fmt.Sprintf("the merge %s was begun there and not completed: resume it or undo it first", merge)
}

// changedServers says how a registry differs from the plan; "" if it does not.
func changedServers(w World, now []registry.Server) string {
	if len(now) != len(w.Servers) {
		return fmt.Sprintf("the registry lists %d servers and listed %d", len(now), len(w.Servers))
	}
	for i, s := range w.Servers {
		n := now[i]
		if n.ID != s.Server || n.World != s.World || (n.Role == registry.RoleOwn) != s.Own {
			return fmt.Sprintf("the registry lists server %s (world %s) where it listed server %s (world %s)", n.ID, n.World, s.Server, s.World)
		}
		if n.Reserved != s.Reserved {
			return fmt.Sprintf("the mark of server %s moved from %d to %d", s.Server, s.Reserved, n.Reserved)
		}
	}
	return ""
}

// mergedServers are all servers whose rows come to the target.
func mergedServers(p *Plan) (all []registry.Server) {
	for _, w := range p.Sources {
		for _, s := range w.Servers {
			all = append(all, registry.Server{ID: s.Server, Name: s.Name, World: s.World, Reserved: s.Reserved})
		}
	}
	return all
}

// fence keeps the servers of the sources from being started, if the plan says
// so, and then makes sure that their registries are those of the plan.
func (r *run) fence(ctx context.Context, state registry.FenceState) error {
	return r.eachFence(ctx, "fencing", func(db *sqldb.DB, w World) error {
		if err := r.hooks.fail.at("before fence"); err != nil {
			return err
		}
		for _, s := range w.Servers {
			if s.Own {
				fence := state.In(registry.FenceTo(r.plan.ID, r.plan.Target.Name, r.hooks.clock()))
				if err := registryOf(db).Fence(ctx, s.Server, fence); err != nil {
					return err
				}
			}
		}
		now, err := registryOf(db).Servers(ctx)
		if err != nil {
			return err
		}
		if reason := changedServers(w, now); reason != "" {
			return fmt.Errorf("%s since the plan was made: a game server has run; undo the merge and plan again", reason)
		}
		return r.hooks.fail.at("after fence")
	})
}

// liftFences lets the servers of the sources start again, if their fences are in one of these
// states, or if none is given.
func (r *run) liftFences(ctx context.Context, states ...registry.FenceState) error {
	for _, c := range r.sources {
		c.drop()
	}
	err := r.eachFence(ctx, "lifting the fence of", func(db *sqldb.DB, w World) error {
		return r.lift(ctx, registryOf(db), w.Name, states)
	})
	if err == nil {
		err = r.hooks.fail.at("after lifting")
	}
	return err
}

// noRowsCame are the states of fences that are lifted though the target has no record of the merge.
var noRowsCame = []registry.FenceState{registry.FencePrepared, registry.FenceUndone}

// liftWithoutRecord lifts all fences of a merge of which the target has no record. If one of them
// does not say that no row of the merge is there, it changes nothing and returns a [*RefusedError]:
// the rows may be in another copy of the target, and to lift the fence would let the world live twice.
func (r *run) liftWithoutRecord(ctx context.Context, doing string) error {
	if err := r.manifest.yet(ctx, ""); err != nil {
		return err
	}
	if err := r.target.open(ctx); err != nil { // the registry needs the pool
		return err
	}
	refused := &RefusedError{Doing: doing}
	for i, w := range r.plan.worlds() {
		on := r.target.Database
		if i > 0 {
			on = r.sources[i-1].Database
		}
		if i > 0 && !w.Fence || i == 0 && len(w.Servers) == 0 {
			continue
		}
		now, err := servers(ctx, on)
		if err != nil {
			return fmt.Errorf("database %q: %w", w.Name, err)
		}
		for _, s := range now {
			if f, _ := registry.FenceOf(s.Holder); s.Fenced(r.plan.ID) && !slices.Contains(noRowsCame, f.State) {
				r.stillFenced(refused, w.Name, s.ID)
			}
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	if err := r.liftFences(ctx, noRowsCame...); err != nil {
		return err
	}
	if err := r.manifest.yet(ctx, ""); err != nil {
		return err
	}
	return r.unguard(ctx, noRowsCame...)
}

// stillFenced says of a fence that it stays, and how to lift it.
func (r *run) stillFenced(e *RefusedError, database string, server gameid.ServerID) {
	target := r.target.Name
	e.Refusals = append(e.Refusals, Refusal{Source: database, Reason: fmt.Sprintf("server %s is fenced by this merge, "+
		"of which %q has no record: rows of the merge may be in it, or in another copy of it: "+
		"name the target that has the record", server, target)})
	why := printable.Quoted(target + " was restored from its backup of before the merge")
	e.Lifting = append(e.Lifting, fmt.Sprintf("gameid servers release -server %s -apply -reason %s -fence %s %s",
		server, why, r.plan.ID, printable.Quoted(database)))
}

// eachFence calls f with every source that the plan fences.
func (r *run) eachFence(ctx context.Context, doing string, f func(db *sqldb.DB, w World) error) error {
	for i, w := range r.plan.Sources {
		if !w.Fence {
			continue
		}
		db, err := sqldb.Dial(ctx, r.sources[i].DSN, false)
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
