package fleet

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

const (
	followFleet = `
		UPDATE fleet_servers
		SET epoch = epoch + 1, world_epoch = ?, mark_ms = CASE WHEN mark_ms < ? THEN ? ELSE mark_ms END
		WHERE server_id = ? AND epoch = ?`
	goneFleet = "UPDATE fleet_servers SET epoch = epoch + 1, gone_into = ? WHERE server_id = ? AND epoch = ?"
)

// Follow records that the worlds of a database continue there, because a merge took them into it or an undo
// took them back: from then on no world of an earlier generation starts (ErrSuperseded), such as a
// restored backup of the database that they were in before. Worlds that are bound in no fleet registry, and those whose
// generation is known already, are left as they are, so the call can be repeated.
//
// It returns an [*Error]: with ErrRunning if a copy of such a world runs elsewhere, with ErrSuperseded if
// the fleet registry has seen a later generation than that of this database, and with ErrOtherWorld and the like if
// the world is not, or no longer, that server.
func (f *Fleet) Follow(ctx context.Context, reg *worldregistry.Registry, note Note) error {
	return f.each(ctx, reg, func(row *Server, own worldregistry.Server, denied error) error {
		switch {
		case denied != nil:
			return denied
		case row.World == "" || worldregistry.Generation(row.WorldEpoch) == own.Generation():
			return nil
		}
		if err := running(reg, row, own); err != nil {
			return err
		}
		return f.change(ctx, own.ID, "move", note, followFleet, own.Epoch, own.Reserved, own.Reserved, own.ID, row.Epoch)
	})
}

// Gone records that the worlds of a database were merged into another one: from then on no copy of them starts
// (ErrSuperseded). into is where, without secrets; empty takes it back. Like [Fleet.Follow] it leaves the others as they
// are, and can be repeated.
//
// It returns an [*Error]: with ErrRunning if such a world runs, and those of Follow about the server and its generation; with
// ErrSuperseded also for a copy of a world that was merged into a third database.
func (f *Fleet) Gone(ctx context.Context, reg *worldregistry.Registry, into string, note Note) error {
	action := "gone"
	if into == "" {
		action = "back"
	}
	return f.each(ctx, reg, func(row *Server, own worldregistry.Server, denied error) error {
		switch {
		case row != nil && row.World == own.World && row.GoneInto == into:
			return nil
		case denied != nil && (into != "" || row == nil): // a copy of it may not go elsewhere
			return denied
		case row.World != own.World: // it never started with the fleet registry
			return nil
		case into != "" && row.alive():
			return &Error{Server: own.ID, Row: *row, kind: ErrRunning, reason: fmt.Sprintf(
				"was merged into %q, and runs elsewhere: %s; stop that process", into, row.running())}
		}
		return f.change(ctx, own.ID, action, note, goneFleet, into, own.ID, row.Epoch)
	})
}

// MayReturn returns the [*Error] with which [Fleet.Follow] would refuse that the worlds of a database continue there, once their
// generation is raised; and, of worlds that came to another one, [Fleet.Gone] that they are back. It changes nothing.
func (f *Fleet) MayReturn(ctx context.Context, reg *worldregistry.Registry, came bool) error {
	return f.each(ctx, reg, func(row *Server, own worldregistry.Server, denied error) error {
		switch {
		case came && row != nil:
			return nil
		case errors.Is(denied, ErrSuperseded) && row.GoneInto == "": // by its generation
		case denied != nil:
			return denied
		}
		return running(reg, row, own)
	})
}

// MayWrite returns the error with which each change would end: of a lock, or of an account or a server that only reads. It changes
// nothing.
func (f *Fleet) MayWrite(ctx context.Context) error {
	const none = -1
	return f.fault(f.db.RetryTx(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Swap(ctx, goneFleet, "", none, none); err != nil {
			return err
		}
		_, err := tx.ExecKind(ctx, sqldb.Seldom, "the history", tx.Dialect().With(insertHistory), "", "", "", none)
		return err
	}))
}

// running refuses a world that continues in a database and runs elsewhere.
func running(reg *worldregistry.Registry, row *Server, own worldregistry.Server) error {
	if row.World == "" || !row.alive() {
		return nil
	}
	return &Error{Server: own.ID, Row: *row, kind: ErrRunning, reason: fmt.Sprintf(
		"continues in the database %q, and runs elsewhere: %s; stop that process", reg.Place(), row.running())}
}

// each visits the worlds of a database that are bound in a fleet registry, with their rows in this one. denied is why a
// world may not be in this database; nil if it may.
func (f *Fleet) each(ctx context.Context, reg *worldregistry.Registry, visit func(row *Server, own worldregistry.Server, denied error) error) error {
	id, err := f.Identity(ctx)
	if err != nil {
		return err
	}
	worlds, err := reg.Servers(ctx)
	if err != nil {
		return err
	}
	for _, own := range worlds {
		if own.Role != worldregistry.RoleOwn || own.Fleet == "" {
			continue
		}
		row, err := f.load(ctx, own.ID)
		if err == nil {
			err = visit(row, own, f.current(own.ID, row, id, own, Options{Place: reg.Place()}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Elsewhere returns an [*Error] if a world of a database must not start there, whether or not it runs: the errors of Follow
// but ErrRunning, and ErrSuperseded also for a world that was merged into another one. It changes nothing.
func (f *Fleet) Elsewhere(ctx context.Context, reg *worldregistry.Registry) error {
	return f.each(ctx, reg, func(_ *Server, _ worldregistry.Server, denied error) error { return denied })
}

// current refuses a world that may not be in this database, by its row.
func (f *Fleet) current(server gameid.ServerID, row *Server, id string, own worldregistry.Server, options Options) error {
	if err := f.claims(server, row, id, own, options); err != nil {
		return err
	}
	if row.World != "" && own.Generation() < worldregistry.Generation(row.WorldEpoch) {
		return superseded(row, own, options.Place)
	}
	return nil
}

// superseded refuses the database of a world that continues in another one.
func superseded(row *Server, own worldregistry.Server, place string) *Error {
	return &Error{Server: own.ID, Row: *row, kind: ErrSuperseded, reason: fmt.Sprintf(
		"must not run on the database %q: it is a copy from before a merge into a new database, or before the undo of one (generation %d of the world, where the fleet registry has seen %d); "+
			"the world is elsewhere, %s. Start that one; if it is lost and this copy is to be the world from now on, see: gameid servers rebind -h",
		place, own.Generation(), worldregistry.Generation(row.WorldEpoch), row.lastSeen())}
}
