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
	"mergesafe/merge/transfer/write"
	"mergesafe/store/registry"
)

// What keeps a game from writing to the target while the merge is neither
// completed nor undone, and what finds out that one wrote nevertheless, is in
// this file.

// Guard fences the target's own servers. If one of them runs, or the registry is
// not as the plan has it, it returns a [*ledger.RefusedError]. A target without a
// registry has no fences.
func Guard(ctx context.Context, r *job.Run, doing string, state registry.FenceState, asPlanned bool) error {
	if !r.Registry {
		return nil
	}
	if err := r.Hooks.Fail.At("before guard"); err != nil {
		return err
	}
	r.Target.Drop() // SQLite has one writer at a time
	reg := rowio.RegistryOf(r.Target.DB)
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		if s.Role != registry.RoleOwn {
			continue
		}
		err := reg.Fence(ctx, s.ID, state.In(registry.FenceHere(r.Plan.ID, r.Target.Name, r.Hooks.Clock())))
		if _, held := errors.AsType[*gameid.HeldError](err); held {
			break // the reasons are told below
		} else if err != nil {
			return err
		}
	}
	if now, err = reg.Servers(ctx); err != nil {
		return err
	}
	reasons := ledger.InUse(now, r.Plan.ID)
	if reason := ledger.ChangedServers(r.Plan.Target, withoutMerged(r, now)); asPlanned && reason != "" {
		reasons = append(reasons, reason+" since the plan was made: plan again")
	}
	if len(reasons) > 0 {
		refused := &ledger.RefusedError{Doing: doing}
		for _, reason := range reasons {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: r.Target.Name, Reason: reason})
		}
		return refused
	}
	return r.Hooks.Fail.At("after guard")
}

// GuardUndone writes into the fences of the target that the rows of the merge are gone, so that they
// can be lifted when there is no record any more.
func GuardUndone(ctx context.Context, r *job.Run) error {
	if !r.Registry {
		return nil
	}
	if err := r.Manifest.ExpectState(ctx, ledger.StateUndoing); err != nil {
		return err
	}
	r.Target.Drop() // SQLite has one writer at a time
	reg := rowio.RegistryOf(r.Target.DB)
	now, err := reg.Servers(ctx)
	for _, s := range now {
		if err == nil && s.Fenced(r.Plan.ID) {
			err = reg.Fence(ctx, s.ID, registry.FenceUndone.In(registry.FenceHere(r.Plan.ID, r.Target.Name, r.Hooks.Clock())))
		}
	}
	return err
}

// unguard lets the target's servers start again, if their fences are in one of these states, or if
// none is given.
func unguard(ctx context.Context, r *job.Run, states ...registry.FenceState) error {
	tables, err := r.Target.Texts(ctx, r.Target.Dialect().TableNames())
	if err != nil || !slices.Contains(tables, registry.Table) {
		return err
	}
	if err := r.Hooks.Fail.At("before unguard"); err != nil {
		return err
	}
	r.Target.Drop() // SQLite has one writer at a time
	if err := lift(ctx, r, rowio.RegistryOf(r.Target.DB), r.Target.Name, states); err != nil {
		return fmt.Errorf("lifting the fence of %q: %w", r.Target.Name, err)
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

// withoutMerged are the servers that do not come to the target by this merge.
func withoutMerged(r *job.Run, now []registry.Server) []registry.Server {
	merged := ledger.MergedServers(r.Plan)
	return slices.DeleteFunc(slices.Clone(now), func(s registry.Server) bool {
		return slices.ContainsFunc(merged, func(m registry.Server) bool {
			return m.ID == s.ID && m.World == s.World && s.Role == registry.RoleMerged
		})
	})
}

// rowsNow counts the rows of a table of the target, and those that the merge has
// copied there by its checkpoints. One statement sees both at one moment, also
// while another process copies.
func rowsNow(ctx context.Context, r *job.Run, t *plan.Table) (rows, copied int64, err error) {
	query := "SELECT (SELECT COUNT(*) FROM " + r.Target.Dialect().Quote(t.Name) + "), (SELECT COALESCE(SUM(done_rows), 0) FROM " + ledger.ProgressTable +
		" WHERE merge_id = ? AND step = ? AND tab = ?)"
	err = r.Target.Rows(ctx, query, false, []any{r.Plan.ID, ledger.StepCopy, t.Name}, func(row []any) (_ bool, err error) {
		if rows, err = rowio.IntIn(row[0], "the number of rows"); err == nil {
			copied, err = rowio.IntIn(row[1], "the sum of "+ledger.ProgressTable+".done_rows")
		}
		return true, err
	})
	if err != nil {
		err = fmt.Errorf("counting the rows of table %q of %q: %w", t.Name, r.Target.Name, err)
	}
	return rows, copied, err
}

// checkUndisturbed makes sure that no game wrote to the target since the merge
// began, as far as numbers of rows and the registry tell.
func checkUndisturbed(ctx context.Context, r *job.Run) error {
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		rows, copied, err := rowsNow(ctx, r, t)
		if err != nil {
			return err
		}
		if ok, want := t.Planned(rows, copied); !ok {
			return write.Miscounted(r, t.Name, rows, want)
		}
	}
	if !r.Registry {
		return nil
	}
	now, err := ledger.Servers(ctx, r.Target.Database)
	if err != nil {
		return err
	}
	if reason := ledger.ChangedServers(r.Plan.Target, withoutMerged(r, now)); reason != "" {
		return &ledger.ChangedError{Database: r.Target.Name, Reason: reason}
	}
	return nil
}
