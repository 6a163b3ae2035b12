package undo

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/store/registry"
)

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
	there, err := u.New.Texts(ctx, u.New.Dialect().TableNames())
	if err != nil {
		return err
	}
	u.Worlds[0].Drop() // it reads what is written now
	first := &rowio.Connection{Database: u.Worlds[0].Database, Writes: true, Fail: u.Worlds[0].Fail}
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
	servers, err = apply.Records(ctx, u.New, registry.Table)
	if err == nil && contains(there, sqldb.SchemaTable) {
		marks, err = apply.Records(ctx, u.New, sqldb.SchemaTable)
	}
	if err == nil && contains(there, sqldb.NumbersTable) {
		numbers, err = apply.Records(ctx, u.New, sqldb.NumbersTable)
	}
	if err != nil {
		return err
	}
	if len(numbers) > 0 { // the first world may not have had any
		if err := apply.MakeRecord(ctx, u.New, first, sqldb.NumbersTable); err != nil {
			return fmt.Errorf("database %q: %w", u.Worlds[0].Name, err)
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
		return fmt.Errorf("database %q: %w", u.Worlds[0].Name, err)
	}
	return raiseMerged(ctx, u, servers)
}

// raiseMerged raises the marks of the other worlds to those in the new database, where their servers may
// have been started, too.
func raiseMerged(ctx context.Context, u *undo, servers []map[string]any) error {
	for i, w := range u.Plan.Worlds {
		if i == 0 {
			continue // see raiseAll
		}
		to := &rowio.Connection{Database: u.Worlds[i].Database, Writes: true, Fail: u.Worlds[i].Fail}
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
