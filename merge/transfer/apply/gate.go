package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/store/registry"
)

// The gate is the fence in the registry of the new database: it keeps the game from starting there
// until the database is opened.

// CloseGate fences the servers of the new database again, before an undo. If one of them runs, it
// returns a [*ledger.RefusedError]. A database without a registry has no gate.
func CloseGate(ctx context.Context, r *job.Run, doing string) error {
	if !r.Registry {
		return nil
	}
	if err := r.Hooks.Fail.At("before guard"); err != nil {
		return err
	}
	r.New.Drop() // SQLite has one writer at a time
	reg := rowio.RegistryOf(r.New.DB)
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		if s.Role != registry.RoleOwn {
			continue
		}
		err := reg.Fence(ctx, s.ID, registry.FenceMerging.In(registry.FenceHere(r.Plan.ID, r.New.Name, r.Hooks.Clock())))
		if _, held := errors.AsType[*gameid.HeldError](err); held {
			break // the reasons are told below
		} else if err != nil {
			return err
		}
	}
	if now, err = reg.Servers(ctx); err != nil {
		return err
	}
	if uses := ledger.InUse(now, r.Plan.ID); len(uses) > 0 {
		refused := &ledger.RefusedError{Doing: doing}
		for _, use := range uses {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: r.New.Name, Reason: use.Reason})
		}
		return refused
	}
	return r.Hooks.Fail.At("after guard")
}

// OpenGate lets the servers of the new database start, if the merge is as this process left it.
func OpenGate(ctx context.Context, r *job.Run) error {
	return r.Retry(ctx, "opening the gate of "+r.New.Name, func(ctx context.Context) error {
		if err := r.Manifest.ExpectState(ctx, r.Manifest.Left); err != nil {
			return err
		}
		return openGate(ctx, r)
	})
}

func openGate(ctx context.Context, r *job.Run) error {
	tables, err := r.New.Texts(ctx, r.New.Dialect().TableNames())
	if err != nil || !slices.Contains(tables, registry.Table) {
		return err
	}
	if err := r.Hooks.Fail.At("before unguard"); err != nil {
		return err
	}
	r.New.Drop() // SQLite has one writer at a time
	if err := lift(ctx, r, rowio.RegistryOf(r.New.DB), r.New.Name, nil); err != nil {
		return fmt.Errorf("lifting the fence of %q: %w", r.New.Name, err)
	}
	return r.Hooks.Fail.At("after unguard")
}

// lift takes the fences of this merge off a registry, those in one of the states if any is given.
func lift(ctx context.Context, r *job.Run, reg *registry.Registry, database string, states []registry.FenceState) error {
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		f, _ := registry.FenceOf(s.Holder)
		if !s.Fenced(r.Plan.ID) || len(states) > 0 && !slices.Contains(states, f.State) {
			continue
		}
		if err := reg.LiftFence(ctx, s.ID, r.Plan.ID, states...); err != nil {
			return err
		}
		r.Lifted = append(r.Lifted, job.Lifted{Database: database, Server: s.ID.String()})
	}
	return nil
}

// withoutMerged are the servers that do not come to the new database by this merge.
func withoutMerged(r *job.Run, now []registry.Server) []registry.Server {
	merged := ledger.MergedServers(r.Plan)
	return slices.DeleteFunc(slices.Clone(now), func(s registry.Server) bool {
		return slices.ContainsFunc(merged, func(m registry.Server) bool {
			return m.ID == s.ID && m.World == s.World && s.Role == registry.RoleMerged
		})
	})
}
