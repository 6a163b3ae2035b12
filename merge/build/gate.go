package build

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// The gate is the fence in the registry of the new database: it keeps the game from starting there
// until the database is opened.

// closeGate fences the servers of the new database again, before an undo, in one transaction with a look at the state in which
// this process left the merge: the database of a later one is not touched. If one of them runs, it returns a
// [*record.RefusedError].
func closeGate(ctx context.Context, r *job.Run, doing string) error {
	if err := r.Hooks.Fail.At("before guard"); err != nil {
		return err
	}
	gate, err := worldregistry.FenceHere(r.Plan.ID, r.New.Name, r.Hooks.Clock()).Value()
	if err != nil {
		return err
	}
	lease := r.Hooks.Clock().Add(worldregistry.FenceLease).UnixMilli()
	err = r.New.Tx(ctx, func() error {
		if err := r.Manifest.HoldState(ctx, r.Manifest.Left, record.Exclusive); err != nil {
			return err
		}
		if err := notLater(ctx, r, doing, "undo that merge first"); err != nil {
			return err
		}
		now, err := record.Servers(ctx, r.New.Database)
		if err != nil {
			return err
		}
		if uses := record.InUse(r.New.Name, now, r.Plan.ID); len(uses) > 0 {
			return &record.RefusedError{Doing: doing, Refusals: uses}
		}
		servers, err := entriesOf(ctx, r)
		for _, s := range servers {
			if err == nil && s.opens(r) {
				err = s.hold(ctx, r, "gate", gate, lease)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.Hooks.Fail.At("after guard")
}

// notLater refuses a new database that became a world of a later merge, with what to do.
func notLater(ctx context.Context, r *job.Run, doing, what string) error {
	fence, err := later(ctx, r)
	if fence != "" {
		return &record.RefusedError{Doing: doing, Refusals: []plan.Refusal{{Source: r.New.Name, Place: plan.PlaceServers,
			Reason: fmt.Sprintf("it became a world of a later merge: %s: %s", fence, what)}}}
	}
	return err
}

// later is the fence of a later merge of which the new database became a world; "" if there is none.
func later(ctx context.Context, r *job.Run) (fence string, err error) {
	servers, err := entriesOf(ctx, r)
	for _, s := range servers {
		if s.fence.Merge != "" && s.fence.Merge != r.Plan.ID {
			return s.fence.String(), nil
		}
	}
	return "", err
}

// gateIsClosed reports whether no server of the new database can start.
func gateIsClosed(ctx context.Context, r *job.Run) (closed bool, err error) {
	if !r.Registry {
		return true, nil
	}
	servers, err := entriesOf(ctx, r)
	return !slices.ContainsFunc(servers, func(s entry) bool { return s.opens(r) }), err
}

// GateClosed makes sure that the gate is closed, in the transaction of r.New that is open.
func GateClosed(ctx context.Context, r *job.Run) error {
	closed, err := gateIsClosed(ctx, r)
	if err == nil && !closed {
		err = fmt.Errorf("%w: it reopened %q to game servers", record.ErrBusy, r.New.Name)
	}
	return err
}

// entry is a row of the registry of the new database, with its fence; none is the zero fence.
type entry struct {
	row   map[string]any
	fence worldregistry.Fence
}

// opens reports whether it is a server of the new database without the fence of the merge.
func (s *entry) opens(r *job.Run) bool {
	return world.Text(s.row["role"]) == worldregistry.RoleOwn && s.fence.Merge != r.Plan.ID
}

// hold gives the server another holder, unless its row has changed since it was read.
func (s *entry) hold(ctx context.Context, r *job.Run, what string, holder any, lease int64) error {
	n, err := r.New.Exec(ctx, what, "UPDATE "+worldregistry.Table+" SET epoch = epoch + 1, holder = ?, lease_until_ms = ? WHERE server_id = ? AND epoch = ?",
		false, holder, lease, s.row["server_id"], s.row["epoch"])
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: the row of server number %v of %q keeps changing: is a game server being started?", sqldb.ErrRetryable, s.row["server_id"], r.New.Name)
	}
	return err
}

// entriesOf reads the registry over r.New, so that a transaction that is open there has it; nothing if there is none.
func entriesOf(ctx context.Context, r *job.Run) (all []entry, err error) {
	tables, err := r.New.Texts(ctx, r.New.Dialect().TableNames())
	if err != nil || !slices.Contains(tables, worldregistry.Table) {
		return nil, err
	}
	rows, err := Records(ctx, r.New, worldregistry.Table)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var holder gameid.Holder
		if err := holder.Scan(row["holder"]); err != nil {
			return nil, err
		}
		fence, _ := worldregistry.FenceOf(holder)
		all = append(all, entry{row, fence})
	}
	return all, nil
}

// OpenGate lets the servers of the new database start, in the transaction of r.New that is open.
func OpenGate(ctx context.Context, r *job.Run) error {
	servers, err := entriesOf(ctx, r)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.fence.Merge != r.Plan.ID {
			continue
		}
		if err := s.hold(ctx, r, "unguard", "", 0); err != nil {
			return err
		}
		id, err := world.IntIn(s.row["server_id"], worldregistry.Table+".server_id")
		if err != nil {
			return err
		}
		r.Lifted = append(r.Lifted, job.Lifted{Database: r.New.Name, Server: gameid.ServerID(id).String()})
	}
	return nil
}

// lift takes the fences of this merge off a registry that lists these servers.
func lift(ctx context.Context, r *job.Run, reg *worldregistry.Registry, database string, servers []worldregistry.Server) error {
	for i := range servers {
		s := &servers[i]
		if !s.Fenced(r.Plan.ID) {
			continue
		}
		lifted, err := reg.LiftFenceOf(ctx, s)
		if err != nil {
			return fmt.Errorf("server %s: %w", s.ID, err)
		}
		if !lifted {
			now, err := reg.Server(ctx, s.ID)
			if _, fenced := worldregistry.FenceOf(now.Holder); err == nil && fenced { // by a later merge, by the same plan or another
				err = fmt.Errorf("%w: it fenced server %s of %q anew", record.ErrBusy, s.ID, database)
			}
			if err != nil {
				return err
			}
			continue // another process has lifted it
		}
		r.Lifted = append(r.Lifted, job.Lifted{Database: database, Server: s.ID.String()})
	}
	return nil
}

// withoutMerged are the servers that do not come to the new database by this merge.
func withoutMerged(r *job.Run, now []worldregistry.Server) []worldregistry.Server {
	merged := record.MergedServers(r.Plan)
	return slices.DeleteFunc(slices.Clone(now), func(s worldregistry.Server) bool {
		return slices.ContainsFunc(merged, func(m worldregistry.Server) bool {
			return m.ID == s.ID && m.World == s.World && s.Role == worldregistry.RoleMerged
		})
	})
}
