package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mergesafe/gameid"
)

// What a merge writes into registries is in this file: the target lists the
// worlds that came to it, and a world that went to another database is fenced.

// The tables that a merge leaves in its target; see package merge/transfer. They
// are no data of the game.
const (
	MergesTable        = "mergesafe_merges"   // every merge, with its plan
	MergeProgressTable = "mergesafe_progress" // how far each step came, by source and table
	MergeRenamesTable  = "mergesafe_renames"  // every value that was changed on the way
)

// fenceLease is how long a fence lasts: until somebody lifts it.
const fenceLease = 100 * 365 * 24 * time.Hour

// fencePrefix begins the token of every fence.
const fencePrefix = "fence:"

// FenceTo is the holder of a server whose world went to another database. It
// is what a start of the server is refused with. token tells one fence from
// another; into is what people call the database.
func FenceTo(token, into string, now time.Time) gameid.Holder {
	return gameid.Holder{
		Token:   fencePrefix + token,
		Host:    into,
		Program: "a merge: this world moved to another database",
		Since:   now.UTC().Truncate(time.Millisecond),
	}
}

// FenceFree tells whether the server may be fenced: nobody holds it, or only a
// process that has ended, or the same fence is there already.
func (s *Server) FenceFree(token string) bool {
	return !s.Leased || s.Fenced(token) || s.Holder.Ended()
}

// Fenced tells whether the fence of that token is there.
func (s *Server) Fenced(token string) bool { return s.Holder.Token == fencePrefix+token }

// FencedInto returns the database that the server's world went to, and when, if
// there is a fence.
func (s *Server) FencedInto() (into string, since time.Time, ok bool) {
	f, ok := FenceOf(s.Holder)
	return f.Into, f.Since, ok
}

// Fence is why a server is kept from starting: its world went to another
// database.
type Fence struct {
	Merge string    // the ID of the merge; the token of [FenceTo]
	Into  string    // what people call that database
	Since time.Time // by the clock of who merged
}

func (f Fence) String() string {
	return fmt.Sprintf("its world went to %q by the merge %.64q, on %s", f.Into, f.Merge, stamp(f.Since))
}

// FenceOf returns the fence that the holder of a lease stands for, if it is one
// and no process.
func FenceOf(h gameid.Holder) (Fence, bool) {
	merge, ok := strings.CutPrefix(h.Token, fencePrefix)
	if !ok {
		return Fence{}, false
	}
	return Fence{Merge: merge, Into: h.Host, Since: h.Since}, true
}

// FencedError tells that a server was not started, nor anything of it changed,
// because it is fenced. errors.As finds the [*gameid.HeldError] in it.
type FencedError struct {
	Server gameid.ServerID
	Fence  Fence

	held *gameid.HeldError
}

func (e *FencedError) Error() string {
	return fmt.Sprintf("server %s is fenced: %s, and goes on there; \"servermerge undo\" takes that merge back and lifts the fence", e.Server, e.Fence)
}

// Unwrap returns the refusal that the fence is made of.
func (e *FencedError) Unwrap() error { return e.held }

// explainHeld says so if what refuses to start a server is a fence.
func explainHeld(held *gameid.HeldError) error {
	if f, ok := FenceOf(held.Holder); ok {
		return &FencedError{held.Server, f, held}
	}
	return held
}

// Fence keeps a server from being started on this database, and a process that
// was frozen from going on: its world goes to another database. It is the lease
// of a holder that never ends, so that every start is refused with a
// [*FencedError] that names it. A server that runs is not fenced, and is a
// [*gameid.HeldError]. Fencing what is fenced with the same token changes
// nothing.
func (r *Registry) Fence(ctx context.Context, server gameid.ServerID, holder gameid.Holder) error {
	return r.hold(ctx, server, holder, fenceLease, func(s *Server) (bool, error) {
		switch {
		case s.Holder.Token == holder.Token:
			return false, nil
		case s.Leased && !s.Holder.Ended():
			return false, explainHeld(&gameid.HeldError{Server: server, Holder: s.Holder, LeaseUntil: s.LeaseUntil, Now: time.Now().UTC()})
		}
		return true, nil
	})
}

// LiftFence takes back what [Registry.Fence] did with the same token. Where
// there is no such fence it changes nothing.
func (r *Registry) LiftFence(ctx context.Context, server gameid.ServerID, token string) error {
	return r.hold(ctx, server, gameid.Holder{}, 0, func(s *Server) (bool, error) { return s.Fenced(token), nil })
}

const updateHolder = `
	UPDATE ` + RegistryTable + ` SET epoch = epoch + 1, holder = ?, lease_until_ms = {now} + ?, updated_ms = {now}
	WHERE server_id = ? AND epoch = ?`

// hold gives a server another holder, if wanted says so after a look at its
// row.
func (r *Registry) hold(ctx context.Context, server gameid.ServerID, holder gameid.Holder, lease time.Duration, wanted func(*Server) (bool, error)) error {
	encoded, err := encodeHolder(holder)
	if err != nil {
		return err
	}
	const most = 5
	for range most {
		row, err := r.server(ctx, server)
		if err != nil {
			return err
		}
		if want, err := wanted(row); err != nil || !want {
			return err
		}
		result, err := r.db.Exec(ctx, r.db.with(updateHolder), encoded, lease.Milliseconds(), server, row.Epoch)
		if err != nil {
			return fmt.Errorf("store: registry of server %s: %w", server, err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 1 {
			return err
		}
	}
	return fmt.Errorf("store: server %s: its row in the registry keeps changing: is a game server being started?", server)
}

func (r *Registry) server(ctx context.Context, server gameid.ServerID) (*Server, error) {
	servers, err := r.Servers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range servers {
		if servers[i].ID == server {
			return &servers[i], nil
		}
	}
	return nil, fmt.Errorf("store: server %s: %w", server, ErrNotFound)
}

const (
	insertMerged = `
		INSERT INTO ` + RegistryTable + ` (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms)
		VALUES (?, ?, ?, '` + RoleMerged + `', ?, ?, '', 0, {now}, {now})`
	deleteMerged = "DELETE FROM " + RegistryTable + " WHERE server_id = ? AND world = ? AND role = '" + RoleMerged + "'"
)

// AddMerged lists servers whose rows come to this database by a merge, with
// their worlds and marks. s is the transaction in which the merge begins. A
// server or a world that is listed already is [ErrDuplicate].
func (r *Registry) AddMerged(ctx context.Context, s Session, servers ...Server) error {
	for _, m := range servers {
		if err := m.ID.Validate(); err != nil {
			return err
		}
		if _, err := s.Exec(ctx, r.db.with(insertMerged), m.ID, m.Name, m.World, max(m.Epoch, 1), m.Reserved); err != nil {
			return fmt.Errorf("listing server %s as merged: %w", m.ID, err)
		}
	}
	return nil
}

// RemoveMerged takes servers that [Registry.AddMerged] listed off the registry
// again, once their rows are gone. One that is not listed is no error.
func (r *Registry) RemoveMerged(ctx context.Context, s Session, servers ...Server) error {
	for _, m := range servers {
		if _, err := s.Exec(ctx, deleteMerged, m.ID, m.World); err != nil {
			return fmt.Errorf("taking server %s off the registry: %w", m.ID, err)
		}
	}
	return nil
}
