package planner

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/world"
)

// lookAtRights notes of which worlds the account may not write the fence.
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
		if !p.Plan.Worlds[i].Fence {
			continue
		}
		const statement = "UPDATE " + worldregistry.Table + " SET epoch = epoch WHERE 1 = 0"
		err := s.On.Rows(ctx, "EXPLAIN "+statement, false, nil, func([]any) (bool, error) { return true, nil })
		switch {
		case sqldb.Says(err, sqldb.LacksARight):
			p.Plan.Lacks = append(p.Plan.Lacks, fmt.Sprintf("%s: UPDATE on %s", s.Name(), worldregistry.Table))
		case err != nil && !sqldb.Says(err, sqldb.Refused) && !sqldb.IsDenied(err):
			return fmt.Errorf("database %q: %w", s.Name(), err)
		}
	}
	return nil
}

// RightsInto says which rights on the new database the account lacks that the DSN names, and the
// statement that gives them; "" if it may have all. It goes by the account's grants: nothing can be
// tried in a database that does not exist.
func RightsInto(ctx context.Context, into world.Database, all *world.Schema) (lacks string, err error) {
	if !all.OnServer() {
		return "", nil
	}
	server, name, err := world.Server(into)
	if err != nil {
		return "", err
	}
	on := &world.Connection{Database: server}
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
	if err != nil && !sqldb.Says(err, sqldb.UnknownVariable) { // MySQL has it, from 8.0 on
		return "", err
	}
	list := strings.Join(world.Lacking(lines, name, literal != 0, all.Rights()), ", ")
	if list == "" {
		return "", nil
	}
	return list + ". To do: " + world.Grant(list, name, account[0], literal != 0) + ";", nil
}
