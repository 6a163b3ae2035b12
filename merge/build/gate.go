package build

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// The gate is the fence in the registry of the new database: it keeps the game from starting there
// until the database is opened.

// CloseGate fences the servers of the new database again, before an undo. If one of them runs, it
// returns a [*record.RefusedError]. A database without a registry has no gate.
func CloseGate(ctx context.Context, r *job.Run, doing string) error {
	if !r.Registry {
		return nil
	}
	if err := r.Hooks.Fail.At("before guard"); err != nil {
		return err
	}
	letWrite(r)
	reg := worldregistry.New(r.New.DB)
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		if s.Role != worldregistry.RoleOwn {
			continue
		}
		err := reg.Fence(ctx, s.ID, worldregistry.FenceHere(r.Plan.ID, r.New.Name, r.Hooks.Clock()))
		if _, held := errors.AsType[*gameid.HeldError](err); held {
			break // the reasons are told below
		} else if err != nil {
			return err
		}
	}
	if now, err = reg.Servers(ctx); err != nil {
		return err
	}
	if uses := record.InUse(r.New.Name, now, r.Plan.ID); len(uses) > 0 {
		return &record.RefusedError{Doing: doing, Refusals: uses}
	}
	return r.Hooks.Fail.At("after guard")
}

// letWrite ends the session with a file: SQLite has one writer at a time. On a server an undo keeps its session; see [onlyUndo].
func letWrite(r *job.Run) {
	if !r.New.Dialect().MySQL() {
		r.New.Drop()
	}
}

// reopenGate takes back what [CloseGate] did.
func reopenGate(ctx context.Context, r *job.Run) error {
	letWrite(r)
	if err := r.New.Open(ctx); err != nil {
		return err
	}
	reg := worldregistry.New(r.New.DB)
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	err = lift(ctx, r, reg, r.New.Name, now)
	r.Lifted = nil // it was this call that had closed it
	return err
}

// GateClosed makes sure that the gate is closed, in the transaction of r.New that is open.
func GateClosed(ctx context.Context, r *job.Run) error {
	if !r.Registry {
		return nil
	}
	servers, err := entriesOf(ctx, r)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if world.Text(s.row["role"]) == worldregistry.RoleOwn && s.fence.Merge != r.Plan.ID {
			return fmt.Errorf("%w: it reopened %q to game servers", record.ErrBusy, r.New.Name)
		}
	}
	return nil
}

// entry is a row of the registry of the new database, with its fence; none is the zero fence.
type entry struct {
	row   map[string]any
	fence worldregistry.Fence
}

// entriesOf reads the registry over r.New, so that a transaction that is open there has it.
func entriesOf(ctx context.Context, r *job.Run) (all []entry, err error) {
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
	tables, err := r.New.Texts(ctx, r.New.Dialect().TableNames())
	if err != nil || !slices.Contains(tables, worldregistry.Table) {
		return err
	}
	servers, err := entriesOf(ctx, r)
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.fence.Merge != r.Plan.ID {
			continue
		}
		n, err := r.New.Exec(ctx, "unguard", "UPDATE "+worldregistry.Table+" SET epoch = epoch + 1, holder = '', lease_until_ms = 0 WHERE server_id = ? AND epoch = ?",
			false, s.row["server_id"], s.row["epoch"])
		if err == nil && n != 1 {
			err = fmt.Errorf("the fence of server number %v of %q keeps changing: is a game server being started?", s.row["server_id"], r.New.Name)
		}
		if err != nil {
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
			if err == nil && now.Fenced(r.Plan.ID) {
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
