package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// JoinFree is that of package store/fleet, which says what it promises.
func (f *Fleet) JoinFree(ctx context.Context, reg *worldregistry.Registry, servers worldregistry.ServerRange, node worldregistry.NodeOptions, options Options) (*Member, error) {
	options, err := options.withDefaults(reg)
	if err != nil {
		return nil, err
	}
	j := &freeJoin{fleet: f, reg: reg, servers: servers, options: options}
	return worldregistry.FirstFree(ctx, reg, servers, node, func(own worldregistry.Server) (*Member, error) {
		m, err := f.tryJoin(ctx, reg, own.ID, node, options, j.answer)
		if refused, ok := errors.AsType[*Error](err); ok && refused.kind == ErrRunning {
			err = heldBy(&refused.Row)
		}
		return m, err
	}, func([]worldregistry.Server) (map[gameid.ServerID]error, error) { return j.look(ctx) })
}

// freeJoin is what one start with a range knows of the fleet registry.
type freeJoin struct {
	fleet   *Fleet
	reg     *worldregistry.Registry
	servers worldregistry.ServerRange
	options Options

	id   string
	rows map[gameid.ServerID]*Server
	away error // why the fleet registry could not be asked
}

// answer is an [asker] that has asked.
func (j *freeJoin) answer(_ context.Context, server gameid.ServerID, _ time.Duration) (string, *Server, error) {
	return j.id, j.rows[server], j.away
}

// look asks the fleet registry about the range, binds what is not bound yet, and
// returns which servers cannot be taken.
func (j *freeJoin) look(ctx context.Context) (not map[gameid.ServerID]error, err error) {
	err = j.fleet.unmoved(func() error {
		if err := j.ask(ctx); err != nil {
			return err
		}
		// After the fleet registry was asked: what a process of this database
		// reported there is in these rows.
		servers, err := j.reg.InRange(ctx, j.servers)
		if err != nil {
			return err
		}
		own := make(map[gameid.ServerID]worldregistry.Server)
		for _, s := range servers {
			own[s.ID] = s
		}
		if j.away != nil {
			not, err = j.unbound(own)
			return err
		}
		var bound bool
		if not, bound, err = j.judge(own); err != nil || bound {
			return err
		}
		return cmp.Or(j.bind(ctx), worldregistry.ErrMoved) // what is bound now is judged once more
	})
	return not, err
}

// ask reads what the fleet registry says of all servers of the range. If it cannot be
// reached, it is not asked again.
func (j *freeJoin) ask(ctx context.Context) error {
	if j.away != nil {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, j.options.Timeout)
	defer cancel()
	id, err := j.fleet.Identity(call)
	var rows []Server
	if err == nil {
		rows, err = j.fleet.inRange(call, j.servers)
	}
	if err != nil && (ctx.Err() != nil || !absent(err)) {
		return err
	}
	j.id, j.rows, j.away = id, make(map[gameid.ServerID]*Server), err
	for i := range rows {
		j.rows[rows[i].ID] = &rows[i]
	}
	return nil
}

// unbound refuses the servers that may not start while the fleet registry
// cannot be reached; if that is all of them, the error says why.
func (j *freeJoin) unbound(own map[gameid.ServerID]worldregistry.Server) (map[gameid.ServerID]error, error) {
	not := make(map[gameid.ServerID]error)
	for server := j.servers.First; server <= j.servers.Last; server++ {
		if own[server].Fleet == "" {
			not[server] = neverBound(server, j.options.Place, j.away)
		}
	}
	if len(not) == j.servers.Len() {
		return nil, not[j.servers.First]
	}
	return not, nil
}

// judge returns which servers cannot be taken, and whether all servers of this
// world are bound to it, in both registries. If one server belongs to another world,
// the whole range is refused.
func (j *freeJoin) judge(own map[gameid.ServerID]worldregistry.Server) (not map[gameid.ServerID]error, bound bool, err error) {
	not, bound = make(map[gameid.ServerID]error), true
	for server := j.servers.First; server <= j.servers.Last; server++ {
		row, mine := j.rows[server], own[server]
		if mine.Role == worldregistry.RoleMerged {
			continue // which the registry of the database refuses
		}
		if row == nil {
			return nil, false, j.notClaimed(server)
		}
		switch err := j.fleet.claims(server, row, j.id, mine, j.options); {
		case errors.Is(err, ErrRetired):
			not[server] = err
		case err != nil:
			return nil, false, fmt.Errorf("the range of servers %s: %w", j.servers, err)
		case row.World == "" || mine.Fleet != j.id:
			bound = false
		case row.alive() && mine.Epoch < row.WorldEpoch:
			return nil, false, &Error{Server: server, Row: *row, kind: ErrRunning, reason: fmt.Sprintf(
				"shows that a live copy of the world of %q runs elsewhere, %s. This database is an older copy, such as a cloned disk or a restored backup: "+
					"its registry has changed %d times, that one's %d times. Stop those processes if this is to be the world from now on; "+
					"if this copy is to be a world of its own, claim another range for it", j.options.Place, row.running(), worldregistry.Changes(mine.Epoch), worldregistry.Changes(row.WorldEpoch))}
		case row.alive():
			not[server] = heldBy(row)
		}
	}
	return not, bound, nil
}

func heldBy(row *Server) error {
	return &gameid.HeldError{Server: row.ID, Holder: row.Holder, LeaseUntil: row.LeaseUntil, Now: row.Now}
}

// notClaimed says how to claim server, and those after it that are not claimed.
func (j *freeJoin) notClaimed(server gameid.ServerID) error {
	last := server
	for last < j.servers.Last && j.rows[last+1] == nil {
		last++
	}
	return j.fleet.notClaimed(server, j.options.Name, "-servers "+worldregistry.ServerRange{First: server, Last: last}.String())
}

const bindFleet = `
	UPDATE fleet_servers SET epoch = epoch + 1, state = '` + Bound + `', world = ?, bound_ms = {now}
	WHERE server_id = ? AND epoch = ?`

// bind binds all servers of the range that belong to no world to the world of this
// database: all of them, or none.
func (j *freeJoin) bind(ctx context.Context) error {
	if err := j.reg.Make(ctx, j.servers); err != nil {
		return err
	}
	servers, err := j.reg.InRange(ctx, j.servers)
	if err != nil {
		return err
	}
	f := j.fleet
	note := Note{By: "a process of the range " + j.servers.String(), Why: "the first start, with the database " + j.options.Place}
	err = f.db.RetryTx(ctx, func(tx *sqldb.Tx) error {
		for _, own := range servers {
			row := j.rows[own.ID]
			if own.Role == worldregistry.RoleMerged || row.World != "" || row.State != Claimed {
				continue
			}
			if err := changeIn(ctx, tx, own.ID, "bind", note, bindFleet, own.World, own.ID, row.Epoch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return f.fault(err)
	}
	return j.reg.Bind(ctx, j.servers, j.id)
}
