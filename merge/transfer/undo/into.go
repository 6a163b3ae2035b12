package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
	"mergesafe/store/registry"
)

// undoInto takes a merge into a new database back: it drops what was made there, and lets the
// worlds start again. While nobody can have entered, there is nothing to compare. What was opened
// is compared row by row, and the first world first learns what was given there: its marks,
// numbers and counters never fall behind, so that nothing is given twice.
func undoInto(ctx context.Context, u *undo, state ledger.State) error {
	if state == "" {
		return undoNothing(ctx, u)
	}
	if err := u.Retry(ctx, "looking at the worlds", func(ctx context.Context) error { return worldsThere(ctx, u) }); err != nil {
		return err
	}
	if state != ledger.StateUndoing {
		if err := mayDrop(ctx, u, state); err != nil {
			return err
		}
		if err := u.Retry(ctx, "beginning the undo", func(ctx context.Context) error {
			if now, err := u.Manifest.Load(ctx); err != nil {
				return err
			} else if state == ledger.StateMade && now == ledger.StateProved { // by the look at what was written
				state, u.Manifest.Left = now, now
			}
			if state == ledger.StateCopied || u.Force && whole(state) {
				if err := u.Manifest.NoteFact(ctx, ledger.FactGiven); err != nil {
					return err
				}
			}
			return u.Manifest.Advance(ctx, state, ledger.StateUndoing)
		}); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		doing string
		do    func(ctx context.Context, u *undo) error
	}{
		{"raising what the first world has given", surpass},
		{"noting where the world is again", func(ctx context.Context, u *undo) error {
			if u.placing == nil {
				return nil
			}
			return u.placing(ctx)
		}},
		{"marking the fences", func(ctx context.Context, u *undo) error { return apply.MarkFences(ctx, u.Run, registry.FenceDropping) }},
		{"dropping the new database", drop},
		{"lifting the fences", func(ctx context.Context, u *undo) error { return apply.LiftFences(ctx, u.Run, registry.FenceDropping) }},
	} {
		if err := u.Retry(ctx, s.doing, func(ctx context.Context) error { return s.do(ctx, u) }); err != nil {
			return err
		}
	}
	u.done.Lifted = u.Run.Lifted
	return nil
}

// worldsThere refuses, forced or not, to drop the new database if a world is gone: it has the only rows of that.
func worldsThere(ctx context.Context, u *undo) error {
	refused := &ledger.RefusedError{Doing: "undo"}
	for i, c := range u.Origins() {
		there, err := schema.Exists(ctx, c.Database)
		var found []string
		if err == nil && there {
			found, err = schema.Contains(ctx, c)
		}
		if err != nil {
			return err
		}
		gone := func(table string, of rowio.Content) bool { return of.Rows > 0 && !contains(found, table) }
		missing := slices.ContainsFunc(u.Plan.Tables, func(t plan.Table) bool {
			if i == 0 {
				return gone(t.Name, t.Target)
			}
			return gone(t.Name, t.Sources[i-1])
		})
		if i == 0 {
			missing = missing || slices.ContainsFunc(u.Plan.Into.Tables, func(t plan.OwnTable) bool { return gone(t.Name, t.Content) })
		}
		if !there || missing {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: fmt.Sprintf(
				"its database or tables are gone, so %s has the only rows of it, and is not dropped: restore the database, then run undo again", u.Target.Name)})
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	return nil
}

// undoNothing ends an undo that was interrupted at its very end, or takes back fences that were
// only prepared. There is no new database, or not one of this merge.
func undoNothing(ctx context.Context, u *undo) error {
	u.done.NoRecord = true
	err := u.Retry(ctx, "lifting the fences", func(ctx context.Context) error { return apply.LiftWithoutRecord(ctx, u.Run, "undo") })
	u.done.Lifted = u.Run.Lifted
	if err == nil { // an apply that was killed before it wrote its record leaves empty tables
		err = u.Retry(ctx, "removing the tables of the merge", func(ctx context.Context) error {
			if there, err := schema.Exists(ctx, u.Target.Database); err != nil || !there {
				return err
			}
			if err := u.Manifest.Remove(ctx); err != nil || u.Plan.Into.There {
				return err
			}
			if left, err := schema.Contains(ctx, u.Target); err != nil || len(left) > 0 {
				return err
			}
			u.Target.Close()
			return schema.Remove(ctx, u.Target.Database)
		})
	}
	if err == nil && len(u.done.Lifted) == 0 {
		err = fmt.Errorf("transfer: %w: there is no database %q of the merge %s, and no world has its fence: nothing is to be undone", ledger.ErrNoMerge, u.Target.Name, u.Plan.ID)
	}
	return err
}

// whole reports whether apply had come to its end: before that there is nothing that a game could use.
func whole(state ledger.State) bool {
	return state == ledger.StateMade || state == ledger.StateProved || state == ledger.StateCopied
}

// mayDrop refuses to drop a database that a game has used since, unless that is forced.
func mayDrop(ctx context.Context, u *undo, state ledger.State) error {
	if !whole(state) {
		return nil // an apply that was killed
	}
	var reasons []plan.Refusal
	refuse := func(format string, args ...any) {
		reasons = append(reasons, plan.Refusal{Source: u.Target.Name, Reason: fmt.Sprintf(format, args...)})
	}
	err := u.Retry(ctx, "looking at the new database", func(ctx context.Context) error {
		reasons = nil
		ids, err := u.Manifest.Later(ctx)
		if err == nil && len(ids) > 0 {
			refuse("the merge %s came later: undo that first", strings.Join(ids, ", "))
		}
		if err != nil {
			return err
		}
		return u.Learn(ctx)
	})
	if err == nil && u.Registry && len(reasons) == 0 {
		err = u.Retry(ctx, "fencing the new database", func(ctx context.Context) error {
			return apply.Guard(ctx, u.Run, "undo", registry.FenceMerging, false)
		})
	}
	// Without a registry nothing keeps a game from writing there, from the moment on that it is made.
	if err == nil && len(reasons) == 0 && !u.Force && (state == ledger.StateCopied || !u.Registry) {
		reasons, err = written(ctx, u)
	}
	if err != nil {
		return err
	}
	if len(reasons) == 0 {
		return nil
	}
	if state == ledger.StateCopied && u.Registry { // the game goes on there
		if err := apply.Release(ctx, u.Run); err != nil {
			return err
		}
	}
	return &ledger.RefusedError{Doing: "undo", Refusals: reasons}
}

// written says what was written to the new database since it was proved.
func written(ctx context.Context, u *undo) (reasons []plan.Refusal, err error) {
	proof, err := prove.Again(ctx, u.Run)
	if altered, is := errors.AsType[*ledger.RefusedError](err); is && proof != nil {
		for _, r := range altered.Refusals {
			r.Reason = "it has other tables than the merge made, which verify explains: what was written there would be lost; -force drops it"
			reasons = append(reasons, r)
		}
		return reasons, nil
	}
	if err != nil || proof.Verdict == verdict.Pass {
		return nil, err
	}
	for _, t := range append(proof.Tables, proof.OwnTables...) {
		if t.Verdict != verdict.Pass {
			reasons = append(reasons, plan.Refusal{Source: u.Target.Name, Table: t.Table, Reason: fmt.Sprintf(
				"it has %s where %d were made, or some have other values: all of that would be lost; -force drops it", ledger.CountRows(t.Rows), t.Want)})
		}
	}
	if len(reasons) == 0 {
		reasons = []plan.Refusal{{Source: u.Target.Name, Reason: "it is not as it was made, which verify explains: all that was written since would be lost; -force drops it"}}
	}
	return reasons, nil
}

// surpass raises in the first world what the new database has given since: the marks and generations of
// its servers, short numbers, and counters.
func surpass(ctx context.Context, u *undo) error {
	if given, err := u.Manifest.HasFact(ctx, ledger.FactGiven); err != nil || !given {
		return err
	}
	u.done.Raised = true
	if known, err := u.Manifest.HasFact(ctx, ledger.FactKnown); err != nil || known {
		return err
	}
	if err := raiseAll(ctx, u); err != nil {
		return err
	}
	return u.Manifest.NoteFact(ctx, ledger.FactKnown)
}

func raiseAll(ctx context.Context, u *undo) error {
	there, err := u.Target.Texts(ctx, u.Target.Dialect().TableNames())
	if err != nil {
		return err
	}
	u.First.Drop() // it reads what is written now
	first := &rowio.Connection{Database: u.First.Database, Writes: true, Fail: u.First.Fail}
	defer first.Close()
	for _, c := range all.Changes() {
		if c.Surpass == nil {
			continue
		}
		if err := c.Surpass(ctx, u.Run, first); err != nil {
			return err
		}
	}
	if !contains(there, registry.Table) {
		return nil
	}
	var servers, numbers, marks []map[string]any
	servers, err = apply.Records(ctx, u.Target, registry.Table)
	if err == nil && contains(there, sqldb.SchemaTable) {
		marks, err = apply.Records(ctx, u.Target, sqldb.SchemaTable)
	}
	if err == nil && contains(there, sqldb.NumbersTable) {
		numbers, err = apply.Records(ctx, u.Target, sqldb.NumbersTable)
	}
	if err != nil {
		return err
	}
	if len(numbers) > 0 { // the first world may not have had any
		if err := apply.MakeRecord(ctx, u.Target, first, sqldb.NumbersTable); err != nil {
			return fmt.Errorf("database %q: %w", u.First.Name, err)
		}
	}
	err = first.Tx(ctx, func() error {
		for _, s := range servers {
			if rowio.Text(s["role"]) != registry.RoleOwn {
				continue // see raiseMerged
			}
			epoch, err := rowio.IntIn(s["epoch"], registry.Table+".epoch")
			if err != nil {
				return err
			}
			epoch = registry.NextGeneration(epoch)
			const raise = "UPDATE " + registry.Table + " SET reserved_ms = CASE WHEN reserved_ms < ? THEN ? ELSE reserved_ms END, " +
				"window_ms = CASE WHEN window_ms < ? THEN ? ELSE window_ms END, epoch = CASE WHEN epoch < ? THEN ? ELSE epoch END WHERE server_id = ? AND world = ?"
			n, err := first.Exec(ctx, "raise", raise, false, s["reserved_ms"], s["reserved_ms"], s["window_ms"], s["window_ms"], epoch, epoch, s["server_id"], s["world"])
			if err == nil && n == 0 { // a server that ran in the new database first, or one that is as it was
				s["holder"], s["lease_until_ms"], s["epoch"] = "", int64(0), epoch
				err = apply.AddRecord(ctx, first, registry.Table, s, "server_id")
			}
			if err != nil {
				return err
			}
		}
		for _, m := range marks { // which versions our tables have
			if err := apply.AddRecord(ctx, first, sqldb.SchemaTable, m, "application"); err != nil {
				return err
			}
		}
		for _, n := range numbers {
			const raise = "UPDATE " + sqldb.NumbersTable + " SET next_number = ? WHERE server_id = ? AND name = ? AND next_number < ?"
			changed, err := first.Exec(ctx, "raise", raise, false, n["next_number"], n["server_id"], n["name"], n["next_number"])
			if err == nil && changed == 0 {
				err = apply.AddRecord(ctx, first, sqldb.NumbersTable, n, "server_id", "name")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("database %q: %w", u.First.Name, err)
	}
	return raiseMerged(ctx, u, servers)
}

// raiseMerged raises the marks of the other worlds to those in the new database, where their servers may
// have been started, too.
func raiseMerged(ctx context.Context, u *undo, servers []map[string]any) error {
	for i, w := range u.Plan.Sources {
		to := &rowio.Connection{Database: u.Sources[i].Database, Writes: true, Fail: u.Sources[i].Fail}
		defer to.Close()
		for _, s := range servers {
			id, err := rowio.IntIn(s["server_id"], registry.Table+".server_id")
			if err != nil {
				return err
			}
			mark, err := rowio.IntIn(s["reserved_ms"], registry.Table+".reserved_ms")
			if err != nil {
				return err
			}
			came := func(known catalog.Server) bool {
				return int64(known.Server) == id && known.World == rowio.Text(s["world"]) && known.Reserved < mark
			}
			if !slices.ContainsFunc(w.Servers, came) {
				continue
			}
			const raise = "UPDATE " + registry.Table + " SET window_ms = CASE WHEN window_ms < ? THEN ? ELSE window_ms END, reserved_ms = ? " +
				"WHERE server_id = ? AND world = ? AND reserved_ms < ?"
			if _, err := to.Exec(ctx, "raise", raise, false, s["window_ms"], s["window_ms"], mark, id, s["world"], mark); err != nil {
				return fmt.Errorf("database %q: %w", w.Name, err)
			}
		}
	}
	return nil
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// drop removes what the merge made, its record last, and the database if nothing else is in it.
func drop(ctx context.Context, u *undo) error {
	if there, err := schema.Exists(ctx, u.Target.Database); err != nil || !there {
		u.done.Dropped = err == nil
		return err
	}
	if now, err := u.Manifest.Load(ctx); err != nil || now != ledger.StateUndoing {
		return errors.Join(err, u.Manifest.ExpectState(ctx, ledger.StateUndoing))
	}
	all, err := schema.Read(ctx, u.First)
	if err != nil {
		return err
	}
	made := !u.Plan.Into.There
	last := []string{ledger.ProgressTable, ledger.MergesTable}
	more := slices.Concat(
		slice.Map(u.Plan.Combines(), func(table int) string { return u.Plan.Tables[table].Combine.Kept }),
		slice.Map(u.Plan.Tables, func(t plan.Table) string { return t.Name }),
		slice.Map(u.Plan.Into.Tables, func(t plan.OwnTable) string { return t.Name }),
		slice.Map(u.Plan.Resets, func(t plan.Reset) string { return t.Table }),
		slices.DeleteFunc(sqldb.Tables(), func(table string) bool { return slices.Contains(last, table) }))
	if made && !u.Target.Dialect().MySQL() { // a file goes at once
		others, err := all.Others(ctx, u.Target, append(append(last, more...), sqldb.KeysView))
		if err != nil {
			return err
		}
		if u.done.Dropped = len(others) == 0; u.done.Dropped {
			u.Target.Close()
			return schema.Remove(ctx, u.Target.Database)
		}
	}
	others, err := all.Drop(ctx, u.Target, more, last)
	if err != nil {
		return err
	}
	u.done.Others = slice.Map(others, printable.Text)
	if u.done.Dropped = len(others) == 0; u.done.Dropped && made {
		u.Target.Close()
		return schema.Remove(ctx, u.Target.Database)
	}
	return nil
}
