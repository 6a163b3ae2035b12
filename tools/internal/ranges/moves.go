package ranges

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer"
	"mergesafe/store"
	"mergesafe/store/fleet"
	"mergesafe/store/registry"
	"mergesafe/tools/internal/cli"
)

// Move sets the place of a world to an address without user and password, if the registry has a place of
// it: if from is not empty, only if it is that.
func (r Registry) Move(ctx context.Context, world, from, to, why string) error {
	if r.DSN.IsZero() {
		return nil
	}
	registry, err := fleet.Open(r.DSN.Reveal())
	if err != nil {
		return err
	}
	defer registry.Close()
	all, err := registry.Places(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(known fleet.Place) bool { return known.World == world && known.Err == nil })
	if i < 0 || all[i].DSN == to || from != "" && all[i].DSN != from {
		return nil
	}
	place := all[i]
	place.DSN = to
	return registry.SetPlace(ctx, place, r.because(why))
}

// Follow records that the first world of a plan goes on in a database, so that copies of it from before
// are refused: see [fleet.Fleet.Follow]. Its errors are those of [Registry.Required] as well.
func (r Registry) Follow(ctx context.Context, plan *transfer.Plan, database transfer.Database, why string) error {
	if r.DSN.IsZero() || !hasServers(plan) {
		return r.Required(ctx, plan, database)
	}
	db, err := store.OpenReadOnly(ctx, database.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	f, err := fleet.Open(r.DSN.Reveal())
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Follow(ctx, db.Registry(), r.because(why))
}

func hasServers(plan *transfer.Plan) bool {
	return slices.ContainsFunc(plan.Worlds[0].Servers, func(s catalog.Server) bool { return s.Own })
}

// Required is a usage error if there is no fleet registry, though the first world of a plan, which is in
// a database, is bound in one.
func (r Registry) Required(ctx context.Context, plan *transfer.Plan, database transfer.Database) error {
	if !r.DSN.IsZero() || !hasServers(plan) {
		return nil
	}
	db, err := store.OpenReadOnly(ctx, database.DSN)
	if err != nil {
		return err
	}
	defer db.Close()
	servers, err := db.Registry().Servers(ctx)
	bound := slices.IndexFunc(servers, func(s registry.Server) bool { return s.Role == registry.RoleOwn && s.Fleet != "" })
	if err != nil || bound < 0 {
		return err
	}
	return cli.Usage("server %s of %q is bound in the fleet registry with the identity %s, which has to know where its world goes on: "+
		"want -fleet and its DSN, or the section [registry] in the configuration; if that registry is lost: gameid servers leave", servers[bound].ID, database.Name, servers[bound].Fleet)
}

// MoveWorld does both for the first world of a plan.
func (r Registry) MoveWorld(ctx context.Context, plan *transfer.Plan, from string, to transfer.Database, why string) error {
	if err := r.Follow(ctx, plan, to, why); err != nil {
		return err
	}
	_, now := sqldb.SplitAccount(to.DSN)
	return r.Move(ctx, plan.Worlds[0].Name, from, now, why)
}

// because is a note, cut to what the registry takes.
func (r Registry) because(why string) fleet.Note {
	const most = 1024
	text := []rune(printable.Text(why))
	return fleet.Note{By: r.By, Why: string(text[:min(most, len(text))])}
}
