package record

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Servers reads the registry of a database: none if it has none.
func Servers(ctx context.Context, d world.Database) ([]worldregistry.Server, error) {
	db, err := sqldb.Dial(ctx, d.DSN, sqldb.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var tables []string
	if err := db.Select(ctx, &tables, db.Dialect().TableNames()); err != nil || !slices.Contains(tables, worldregistry.Table) {
		return nil, d.Held(ctx, err)
	}
	all, err := worldregistry.New(db).Servers(ctx)
	return all, d.Held(ctx, err)
}

// InUse returns why servers of the registry of a database block a merge: they run ([plan.PlaceRunning]), or another
// merge has fenced them, or is not finished. token is that of the merge's own fence.
func InUse(database string, servers []worldregistry.Server, token string) (all []plan.Refusal) {
	for _, s := range servers {
		refusal := plan.Refusal{Source: database, Place: plan.PlaceServers}
		f, fenced := worldregistry.FenceOf(s.Holder)
		switch {
		case s.Fenced(token), !fenced && s.FenceFree(token):
			continue
		case !fenced:
			refusal.Place = plan.PlaceRunning
			refusal.Reason = fmt.Sprintf("server %s runs: it is held by %s until %s: stop it first", s.ID, s.Holder, printable.Time(s.LeaseUntil))
		case f.Here:
			refusal = Unfinished(database, f.Merge)
		case f.State == worldregistry.FenceMerging:
			refusal.Reason = fmt.Sprintf("server %s is fenced: %s: leave it out, or undo that merge first; if its plan and its new database are lost, see: gameid servers release -h", s.ID, f)
		default:
			refusal.Reason = fmt.Sprintf("server %s is fenced: its world went to %q by another merge, on %s; undo that merge, or leave the world out",
				s.ID, f.Into, printable.Time(f.Since))
			refusal.Next = plan.NextPlan
		}
		if !slices.Contains(all, refusal) {
			all = append(all, refusal)
		}
	}
	return all
}

// Unfinished refuses a database with a merge that has begun: it takes part in no other.
func Unfinished(database, merge string) plan.Refusal {
	return plan.Refusal{Source: database, Place: plan.PlaceServers,
		Reason: fmt.Sprintf("the merge %s was begun there and not completed: resume it or undo it first", merge)}
}

// ChangedServers says how a registry differs from the plan; "" if it does not.
func ChangedServers(w plan.World, now []worldregistry.Server) string {
	if len(now) != len(w.Servers) {
		return fmt.Sprintf("the registry lists %d servers and listed %d", len(now), len(w.Servers))
	}
	for i, s := range w.Servers {
		n := now[i]
		if n.ID != s.Server || n.World != s.World || (n.Role == worldregistry.RoleOwn) != s.Own {
			return fmt.Sprintf("the registry lists server %s (world %s) where it listed server %s (world %s)", n.ID, n.World, s.Server, s.World)
		}
		if n.Generation() != s.Generation {
			return fmt.Sprintf("server %s is in generation %d of its world, and was in %d: a merge took it into another database, or an undo took it back", s.Server, n.Generation(), s.Generation)
		}
		if n.Reserved != s.Reserved {
			return fmt.Sprintf("the mark of server %s moved from %d to %d", s.Server, s.Reserved, n.Reserved)
		}
	}
	return ""
}

// Another is [plan.World.Another] of a registry; now is what that lists.
func Another(ctx context.Context, w plan.World, d world.Database) (now []worldregistry.Server, reason string, err error) {
	if len(w.Servers) == 0 {
		return nil, "", nil
	}
	if now, err = Servers(ctx, d); err != nil {
		return nil, "", fmt.Errorf("database %q: %w", w.Name, err)
	}
	var all []catalog.Server
	for _, s := range now {
		all = append(all, catalog.Server{Server: s.ID, World: s.World, Own: s.Role == worldregistry.RoleOwn})
	}
	return now, w.Another(all), nil
}

// InNew is the first world as the registry of the new database has it: in its next generation.
func InNew(w plan.World) plan.World {
	w.Servers = slices.Clone(w.Servers)
	for i := range w.Servers {
		if w.Servers[i].Own {
			w.Servers[i].Generation++
		}
	}
	return w
}

// NotKept says why a world that a merge has fenced may have been written to since the plan: a server
// ran, or has no fence of the merge; "" if it was kept.
func NotKept(w plan.World, now []worldregistry.Server, merge string) string {
	if reason := ChangedServers(w, now); reason != "" {
		return reason
	}
	for _, s := range now {
		if s.Role == worldregistry.RoleOwn && !s.Fenced(merge) {
			return fmt.Sprintf("server %s is no longer fenced by this merge", s.ID)
		}
	}
	return ""
}

// MergedServers are the servers of all worlds but the first, which become merged servers of it.
func MergedServers(p *plan.Plan) (all []worldregistry.Server) {
	for _, w := range p.Worlds[1:] {
		for _, s := range w.Servers {
			all = append(all, worldregistry.Server{ID: s.Server, Name: s.Name, World: s.World, Reserved: s.Reserved})
		}
	}
	return all
}
