package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/transfer/step"
	"mergesafe/store/registry"
)

// lookAtRights notes which rights that apply and undo take the account does not have.
// A plan may be made with an account that only reads, so they are no refusals.
//
// The connection is read-only, so the server refuses to EXPLAIN a statement that
// writes: because of that, if the account has the right, and for want of the right if
// not. Nothing is ever written. Rights to CREATE, DROP and ALTER are not seen so.
func lookAtRights(ctx context.Context, p *Planner) error {
	if !p.DBs[0].Dialect.MySQL() {
		return nil
	}
	for i, s := range p.DBs {
		lacks := make(map[string][]string) // tables by right
		look := func(right, table, statement string) error {
			err := s.On.Rows(ctx, "EXPLAIN "+statement, false, nil, func([]any) (bool, error) { return true, nil })
			if sqldb.LacksRight(err) {
				lacks[right] = append(lacks[right], table)
			}
			if err == nil || sqldb.IsRefused(err) || sqldb.IsDenied(err) {
				return nil
			}
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
		written := i == 0 && p.Plan.Into == nil
		if written {
			layout := func(table string) *rowio.Layout { return job.ResetLayout(s.Dialect, s.Table(table)) }
			for _, probe := range step.Probes(all.Changes(), p.Plan, s.Dialect, layout) {
				if probe.Right == "" {
					continue
				}
				if err := look(probe.Right, probe.Table, probe.Statement); err != nil {
					return err
				}
			}
		}
		if written && s.Known.HasRegistry || i == 0 && p.Plan.Target.Fence || i > 0 && p.Plan.Sources[i-1].Fence {
			if err := look("UPDATE", registry.Table, "UPDATE "+registry.Table+" SET epoch = epoch WHERE 1 = 0"); err != nil {
				return err
			}
		}
		for _, right := range []string{"INSERT", "DELETE", "UPDATE"} {
			if tables := lacks[right]; len(tables) > 0 {
				slices.Sort(tables)
				p.Plan.Lacks = append(p.Plan.Lacks, fmt.Sprintf("%s: %s on %s", s.Name(), right, printable.List(tables, ", ", 3)))
			}
		}
	}
	return nil
}

// RightsInto says which rights on the new database the account lacks that the DSN names, and the
// statement that gives them; "" if it may have all. It goes by the account's grants: nothing can be
// tried in a database that does not exist.
func RightsInto(ctx context.Context, into rowio.Database, all *schema.Schema) (lacks string, err error) {
	if !all.OnServer() {
		return "", nil
	}
	server, name, err := schema.Server(into)
	if err != nil {
		return "", err
	}
	on := &rowio.Connection{Database: server}
	defer on.Close()
	lines, err := on.Texts(ctx, "SHOW GRANTS")
	if err != nil {
		return "", err
	}
	account, err := on.Texts(ctx, "SELECT CURRENT_USER()")
	if err != nil {
		return "", err
	}
	literal, err := on.Number(ctx, "SELECT @@partial_revokes", false)
	if err != nil && !sqldb.IsUnknownVariable(err) { // MySQL has it, from 8.0 on
		return "", err
	}
	list := strings.Join(sqlsource.Lacking(lines, name, literal != 0, all.Rights()), ", ")
	if list == "" {
		return "", nil
	}
	return list + ". To do: " + sqlsource.Grant(list, name, account[0], literal != 0) + ";", nil
}
