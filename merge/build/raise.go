package build

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/naming"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"

	"mergesafe/merge/change"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// raise raises in the worlds what the new database has given since: counters, sequences of the first one, the
// marks and generations of servers, and short numbers. Each is raised only upwards, so it can be repeated.
func (u *undo) raise(ctx context.Context) error {
	if err := u.stillUndoing(ctx); err != nil {
		return err
	}
	if err := u.stillShut(ctx); err != nil {
		return err
	}
	if u.Manifest.Raised() { // tables and our own may be dropped by now; the others may have counted further since
		return u.raiseCounters(ctx)
	}
	u.writing(true)
	if err := u.During(ctx, u.Manifest.Left, func() error { return u.raiseAll(ctx) }); err != nil {
		return err
	}
	return u.Manifest.NoteRaised(ctx)
}

// raiseAll is raise, while the merge stays in its state.
func (u *undo) raiseAll(ctx context.Context) error {
	seen, err := u.registries(ctx)
	if err != nil {
		return err
	}
	if err := u.raiseCounters(ctx); err != nil {
		return err
	}
	given, err := givenIn(ctx, u.New)
	if err == nil && u.older {
		err = given.surpassNow(u)
	}
	if err != nil {
		return err
	}
	for i := range u.Worlds {
		if err := raiseWorld(ctx, u.Run, i, given, seen[i]); err != nil {
			return fmt.Errorf("database %q: %w", u.Worlds[i].Name, err)
		}
	}
	return nil
}

// raiseCounters raises what the worlds count above what the new database has.
func (u *undo) raiseCounters(ctx context.Context) error {
	for i, w := range u.Worlds {
		w.Drop() // it reads what is written now
		to := &world.Connection{Database: w.Database, Writes: true, Fail: w.Fail}
		err := change.Surpass(ctx, u.reads(), i, to)
		to.Close()
		if err != nil {
			if u.out != u.New { // of which there is a transaction
				u.letIn() // the session that has the locks may be lost
			}
			return fromTheLocks(err)
		}
	}
	return nil
}

// registries are those of the worlds.
func (u *undo) registries(ctx context.Context) (all []*given, err error) {
	for _, w := range u.Worlds {
		c := &world.Connection{Database: w.Database}
		g, err := givenIn(ctx, c)
		c.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// raiseUnseen raises the marks of a merge whose new database is gone: above all that may have been given there until
// now.
func (u *undo) raiseUnseen(ctx context.Context) error {
	seen, err := u.registries(ctx)
	if err != nil {
		return err
	}
	for i, own := range seen {
		if err := own.surpassNow(u); err != nil {
			return err
		}
		for id, s := range own.servers {
			s.epoch = worldregistry.NextGeneration(s.epoch) // that of the new database
			own.servers[id] = s
		}
		own.marks, own.numbers = nil, nil
		if err := raiseWorld(ctx, u.Run, i, own, own); err != nil {
			return fmt.Errorf("database %q: %w", u.Worlds[i].Name, err)
		}
	}
	return nil
}

// surpassNow takes it that IDs were given until now, as far ahead of the clock as a server reserves.
func (g *given) surpassNow(u *undo) error {
	now, err := gameid.MillisOf(u.Hooks.Clock())
	for id, s := range g.servers {
		s.reserved = max(s.reserved, now+s.window)
		g.servers[id] = s
	}
	return err
}

// given is what the registry of a database says that was given there.
type given struct {
	servers map[serverOf]server
	marks   []map[string]any // which versions our tables have
	numbers []map[string]any
}

// serverOf is the server of a world.
type serverOf struct {
	id    int64
	world string
}

type server struct {
	own                     bool
	reserved, window, epoch int64
	row                     map[string]any
}

func givenIn(ctx context.Context, on *world.Connection) (*given, error) {
	g := new(given)
	tables, err := on.Texts(ctx, on.Dialect().TableNames())
	if err != nil || !naming.Among(tables, worldregistry.Table) {
		return g, err
	}
	rows, err := Records(ctx, on, worldregistry.Table)
	if err == nil && naming.Among(tables, sqldb.SchemaTable) {
		g.marks, err = Records(ctx, on, sqldb.SchemaTable)
	}
	if err == nil && naming.Among(tables, sqldb.NumbersTable) {
		g.numbers, err = Records(ctx, on, sqldb.NumbersTable)
	}
	g.servers = make(map[serverOf]server)
	for _, row := range rows {
		id, err1 := world.IntIn(row["server_id"], worldregistry.Table+".server_id")
		s := server{own: world.Text(row["role"]) == worldregistry.RoleOwn, row: row}
		var err2, err3, err4 error
		s.reserved, err2 = world.IntIn(row["reserved_ms"], worldregistry.Table+".reserved_ms")
		s.window, err3 = world.IntIn(row["window_ms"], worldregistry.Table+".window_ms")
		s.epoch, err4 = world.IntIn(row["epoch"], worldregistry.Table+".epoch")
		err = errors.Join(err, err1, err2, err3, err4)
		g.servers[serverOf{id, world.Text(row["world"])}] = s
	}
	return g, err
}

// raiseWorld raises, in one transaction, what a world has of what was given, and marks its fences: from then on they say
// that it may live again. If others have set or lifted one since it was seen, another undo was faster, and there may be a
// later merge: that is [record.ErrBusy].
func raiseWorld(ctx context.Context, r *job.Run, w int, of, seen *given) error {
	defer r.Worlds[w].Drop()
	tables, err := r.Worlds[w].Texts(ctx, r.Worlds[w].Dialect().TableNames())
	if err != nil || !naming.Among(tables, worldregistry.Table) && len(of.servers) == 0 {
		return err // there is nothing to write
	}
	r.Worlds[w].Drop()
	to := &world.Connection{Database: r.Worlds[w].Database, Writes: true, Fail: r.Worlds[w].Fail}
	defer to.Close()
	if w == 0 && len(of.numbers) > 0 { // it may not have had any
		if err := MakeRecord(ctx, r.New, to, sqldb.NumbersTable); err != nil {
			return err
		}
	}
	return to.Tx(ctx, func() error {
		if err := raiseServers(ctx, r, to, of, seen); err != nil {
			return err
		}
		if w > 0 { // its numbers did not go on
			return nil
		}
		for at, s := range of.servers { // that ran in the new database first
			if !s.own {
				continue
			}
			s.row["holder"], s.row["lease_until_ms"] = "", int64(0)
			if err := AddRecord(ctx, to, worldregistry.Table, s.row, "server_id"); err != nil {
				return fmt.Errorf("server %d: %w", at.id, err)
			}
		}
		for _, m := range of.marks {
			if err := AddRecord(ctx, to, sqldb.SchemaTable, m, "application"); err != nil {
				return err
			}
		}
		for _, n := range of.numbers {
			const raise = "UPDATE " + sqldb.NumbersTable + " SET next_number = ? WHERE server_id = ? AND name = ? AND next_number < ?"
			changed, err := to.Exec(ctx, "raise", raise, false, n["next_number"], n["server_id"], n["name"], n["next_number"])
			if err == nil && changed == 0 {
				err = AddRecord(ctx, to, sqldb.NumbersTable, n, "server_id", "name")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// raiseServers raises the rows of a registry.
func raiseServers(ctx context.Context, r *job.Run, to *world.Connection, of, seen *given) error {
	tables, err := to.Texts(ctx, to.Dialect().TableNames())
	if err != nil || !naming.Among(tables, worldregistry.Table) {
		return err
	}
	rows, err := givenIn(ctx, to)
	if err != nil {
		return err
	}
	for at, now := range rows.servers {
		var holder gameid.Holder
		if err := holder.Scan(now.row["holder"]); err != nil {
			return err
		}
		if world.Text(now.row["holder"]) != world.Text(seen.servers[at].row["holder"]) {
			return fmt.Errorf("%w: the fence of server %d of %q has changed", record.ErrBusy, at.id, to.Name)
		}
		fence, fenced := worldregistry.FenceOf(holder)
		ours := fenced && fence.Merge == r.Plan.ID
		then, known := of.servers[at]
		if !known {
			if !ours {
				continue
			}
			then = now
		}
		if ours && fence.State == worldregistry.FenceDropping && then.reserved <= now.reserved {
			continue // an earlier call did so
		}
		epoch := now.epoch + 1
		if now.own {
			epoch = worldregistry.NextGeneration(max(now.epoch, then.epoch))
		}
		if ours {
			holder = worldregistry.FenceDropping.In(holder)
		}
		value, err := holder.Value()
		if err != nil {
			return err
		}
		n, err := to.Exec(ctx, "raise", "UPDATE "+worldregistry.Table+" SET reserved_ms = ?, window_ms = ?, epoch = ?, holder = ? WHERE server_id = ? AND epoch = ?", false,
			max(now.reserved, then.reserved), max(now.window, then.window), epoch, value, at.id, now.epoch)
		if err == nil && n != 1 {
			err = fmt.Errorf("%w: another process changed the row of server %d in the registry", sqldb.ErrRetryable, at.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
