package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/gameid"
	"mergesafe/store/registry"
)

// What keeps a game from writing to the target while the merge is neither
// completed nor undone, and what finds out that one wrote nevertheless, is in
// this file.

// guard fences the target's own servers. If one of them runs, or the registry is
// not as the plan has it, it returns a [*RefusedError]. A target without a
// registry has no fences.
func (r *run) guard(ctx context.Context, doing string, state registry.FenceState, asPlanned bool) error {
	if !r.registry {
		return nil
	}
	if err := r.hooks.fail.at("before guard"); err != nil {
		return err
	}
	r.target.drop() // SQLite has one writer at a time
	reg := registryOf(r.target.db)
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		if s.Role != registry.RoleOwn {
			continue
		}
		err := reg.Fence(ctx, s.ID, state.In(registry.FenceHere(r.plan.ID, r.target.Name, r.hooks.clock())))
		if _, held := errors.AsType[*gameid.HeldError](err); held {
			break // the reasons are told below
		} else if err != nil {
			return err
		}
	}
	if now, err = reg.Servers(ctx); err != nil {
		return err
	}
	reasons := inUse(now, r.plan.ID)
	if reason := changedServers(r.plan.Target, r.withoutMerged(now)); asPlanned && reason != "" {
		reasons = append(reasons, reason+" since the plan was made: plan again")
	}
	if len(reasons) > 0 {
		refused := &RefusedError{Doing: doing}
		for _, reason := range reasons {
			refused.Refusals = append(refused.Refusals, Refusal{Source: r.target.Name, Reason: reason})
		}
		return refused
	}
	return r.hooks.fail.at("after guard")
}

// guardUndone writes into the fences of the target that the rows of the merge are gone, so that they
// can be lifted when there is no record any more.
func (r *run) guardUndone(ctx context.Context) error {
	if !r.registry {
		return nil
	}
	if err := r.manifest.yet(ctx, StateUndoing); err != nil {
		return err
	}
	r.target.drop() // SQLite has one writer at a time
	reg := registryOf(r.target.db)
	now, err := reg.Servers(ctx)
	for _, s := range now {
		if err == nil && s.Fenced(r.plan.ID) {
			err = reg.Fence(ctx, s.ID, registry.FenceUndone.In(registry.FenceHere(r.plan.ID, r.target.Name, r.hooks.clock())))
		}
	}
	return err
}

// unguard lets the target's servers start again, if their fences are in one of these states, or if
// none is given.
func (r *run) unguard(ctx context.Context, states ...registry.FenceState) error {
	tables, err := r.target.texts(ctx, r.target.dialect().TableNames())
	if err != nil || !slices.Contains(tables, registry.Table) {
		return err
	}
	if err := r.hooks.fail.at("before unguard"); err != nil {
		return err
	}
	r.target.drop() // SQLite has one writer at a time
	if err := r.lift(ctx, registryOf(r.target.db), r.target.Name, states); err != nil {
		return fmt.Errorf("lifting the fence of %q: %w", r.target.Name, err)
	}
	return r.hooks.fail.at("after unguard")
}

// lift takes the fences of this merge off a registry, those in one of the states if any is given.
func (r *run) lift(ctx context.Context, reg *registry.Registry, database string, states []registry.FenceState) error {
	now, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, s := range now {
		f, _ := registry.FenceOf(s.Holder)
		if !s.Fenced(r.plan.ID) || len(states) > 0 && !slices.Contains(states, f.State) {
			continue
		}
		if err := reg.LiftFence(ctx, s.ID, r.plan.ID, states...); err != nil {
			return err
		}
		r.lifted = append(r.lifted, Lifted{database, s.ID.String()})
	}
	return nil
}

// withoutMerged are the servers that do not come to the target by this merge.
func (r *run) withoutMerged(now []registry.Server) []registry.Server {
	merged := mergedServers(r.plan)
	return slices.DeleteFunc(slices.Clone(now), func(s registry.Server) bool {
		return slices.ContainsFunc(merged, func(m registry.Server) bool {
			return m.ID == s.ID && m.World == s.World && s.Role == registry.RoleMerged
		})
	})
}

// rowsNow counts the rows of a table of the target, and those that the merge has
// copied there by its checkpoints. One statement sees both at one moment, also
// while another process copies.
func (r *run) rowsNow(ctx context.Context, t *Table) (rows, copied int64, err error) {
	query := "SELECT (SELECT COUNT(*) FROM " + r.target.dialect().Quote(t.Name) + "), (SELECT COALESCE(SUM(done_rows), 0) FROM " + ProgressTable +
		" WHERE merge_id = ? AND step = ? AND tab = ?)"
	err = r.target.rows(ctx, query, false, []any{r.plan.ID, StepCopy, t.Name}, func(row []any) (_ bool, err error) {
		if rows, err = intIn(row[0], "the number of rows"); err == nil {
			copied, err = intIn(row[1], "the sum of "+ProgressTable+".done_rows")
		}
		return true, err
	})
	if err != nil {
		err = fmt.Errorf("counting the rows of table %q of %q: %w", t.Name, r.target.Name, err)
	}
	return rows, copied, err
}

// checkUndisturbed makes sure that no game wrote to the target since the merge
// began, as far as numbers of rows and the registry tell.
func (r *run) checkUndisturbed(ctx context.Context) error {
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		rows, copied, err := r.rowsNow(ctx, t)
		if err != nil {
			return err
		}
		if ok, want := t.planned(rows, copied); !ok {
			reason := fmt.Sprintf("table %q has %s, and should have %d", t.Name, countRows(rows), want)
			return &ChangedError{Database: r.target.Name, Table: t.Name, Rows: rows, Want: want, Reason: reason}
		}
	}
	if !r.registry {
		return nil
	}
	now, err := servers(ctx, r.target.Database)
	if err != nil {
		return err
	}
	if reason := changedServers(r.plan.Target, r.withoutMerged(now)); reason != "" {
		return &ChangedError{Database: r.target.Name, Reason: reason}
	}
	return nil
}
