package worldregistry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
)

// What a merge writes into registries is in this file: the new database lists the
// worlds that came to it and is fenced while they come, and a world that went to
// another database is fenced.

// FenceLease is the lease of a fence. It does not end before the fence is lifted.
const FenceLease = 100 * 365 * 24 * time.Hour

// fencePrefix begins the token of every fence.
const fencePrefix = "fence:"

// FenceTo returns the fence of a server whose world went to another database, as a holder
// for [Registry.Fence]. token identifies the fence, and is the ID of the merge; into is the
// name of the other database, for people.
func FenceTo(token, into string, now time.Time) gameid.Holder {
	return gameid.Holder{
		Token:   fencePrefix + token,
		Host:    into,
		Program: "a merge: this world moved to another database",
		Since:   now.UTC().Truncate(time.Millisecond),
	}
}

// mergingHere is the program of a fence in the new database of a merge. Every other
// fence is that of a world that went to another database.
const mergingHere = "a merge is being carried out in this database"

// FenceHere returns the fence of a server of a merge's new database, as a holder for
// [Registry.Fence]. It lasts until the merge is opened or undone. name is the name of
// the database, for people.
func FenceHere(token, name string, now time.Time) gameid.Holder {
	h := FenceTo(token, name, now)
	h.Program = mergingHere
	return h
}

// FenceState is what a fence says of its merge. It is for a new database that has no record of the merge:
// a record can be lost, or the database be under another name, and the fence is where the world is.
type FenceState string

// The states of a fence. A state of a newer version, which is none of these, is as FenceOpened.
const (
	FenceMerging  FenceState = ""         // the merge was prepared, or has begun: nobody was let into the new database
	FenceOpened   FenceState = "opened"   // a game may run in the new database
	FenceDropping FenceState = "dropping" // an undo drops the new database that the rows came to
)

// In returns a fence in another state.
func (s FenceState) In(fence gameid.Holder) gameid.Holder {
	fence.Process = string(s) // a fence is no process
	return fence
}

// FenceFree reports whether the server may be fenced: no process holds it, or only one
// that has ended, or it has the same fence already.
func (s *Server) FenceFree(token string) bool {
	return !s.Leased || s.Fenced(token) || s.Holder.Ended()
}

// Fenced reports whether the server has the fence of that token.
func (s *Server) Fenced(token string) bool { return s.Holder.Token == fencePrefix+token }

// Fence says why a server must not start: its world went to another database, or a merge
// is being carried out in its own database.
type Fence struct {
	Merge string    // the ID of the merge; the token of [FenceTo]
	Into  string    // the name of the merge's new database, for people
	Here  bool      // this database is the new one: see [FenceHere]
	Since time.Time // by the clock of the machine that merged
	State FenceState
}

func (f Fence) String() string {
	switch {
	case f.State == FenceDropping:
		return fmt.Sprintf("an undo drops %q, which the merge %.64q had made, since %s", f.Into, f.Merge, printable.Time(f.Since))
	case f.Here:
		return fmt.Sprintf("the merge %.64q is being carried out in this database, %q, since %s", f.Merge, f.Into, printable.Time(f.Since))
	case f.State == FenceMerging:
		return fmt.Sprintf("its world goes to %q by the merge %.64q, since %s", f.Into, f.Merge, printable.Time(f.Since))
	}
	return fmt.Sprintf("its world went to %q by the merge %.64q, on %s", f.Into, f.Merge, printable.Time(f.Since))
}

// FenceOf returns the fence that the holder of a lease is, if it is not a process.
func FenceOf(h gameid.Holder) (Fence, bool) {
	merge, ok := strings.CutPrefix(h.Token, fencePrefix)
	if !ok {
		return Fence{}, false
	}
	return Fence{merge, h.Host, h.Program == mergingHere, h.Since, FenceState(h.Process)}, true
}

// FencedError says that a server was neither started nor changed, because it is fenced.
// errors.As finds the [*gameid.HeldError] in it.
type FencedError struct {
	Server gameid.ServerID
	Fence  Fence

	held *gameid.HeldError
}

func (e *FencedError) Error() string {
	switch {
	case e.Fence.State == FenceDropping:
		return fmt.Sprintf("server %s is fenced: %s; to lift it: \"servermerge undo PLAN\"", e.Server, e.Fence)
	case e.Fence.Here || e.Fence.State == FenceMerging:
		return fmt.Sprintf("server %s is fenced: %s; what comes next: \"servermerge status PLAN\"; to take it back: \"servermerge undo PLAN\"", e.Server, e.Fence)
	}
	return fmt.Sprintf("server %s is fenced: %s, and runs there; to take that merge back and lift the fence: \"servermerge undo PLAN\"", e.Server, e.Fence)
}

// Unwrap returns the [*gameid.HeldError] with which the lease of the fence refused the start.
func (e *FencedError) Unwrap() error { return e.held }

// Explain returns a [*FencedError] if a fence refuses to start a server, otherwise
// held.
func Explain(held *gameid.HeldError) error {
	if f, ok := FenceOf(held.Holder); ok {
		return &FencedError{held.Server, f, held}
	}
	return held
}

// fencedRow is how a holder begins that is a fence: the token is the first field
// of its JSON.
const fencedRow = `{"token":"` + fencePrefix

// checkFences returns a [*FencedError] if any server of this database is fenced.
// A merge fences the servers that the registry lists. Other servers must not start
// either, neither during the merge nor after the world went to another database: their
// rows would be lost, or make the merge fail.
func (r *Registry) checkFences(ctx context.Context, server gameid.ServerID) error {
	fenced, err := r.find(ctx, " WHERE SUBSTR(holder, 1, ?) = ? ORDER BY server_id LIMIT 1", len(fencedRow), fencedRow)
	if err != nil || len(fenced) == 0 {
		return err
	}
	s := fenced[0]
	return Explain(&gameid.HeldError{Server: server, Holder: s.Holder, LeaseUntil: s.LeaseUntil, Now: s.Now})
}

// Fence keeps a server from being started on this database, because its world goes to
// another database, or other worlds come to this one. It also stops a process that was
// frozen. A fence is a lease that never ends: every start is refused with a
// [*FencedError] that names the fence. If the server runs, it is not fenced, and Fence
// returns a [*gameid.HeldError]. A fence with the same token keeps its state, and counts as made anew: a process
// that saw it before does not lift it by [Registry.LiftFenceOf].
func (r *Registry) Fence(ctx context.Context, server gameid.ServerID, holder gameid.Holder) error {
	row, err := r.Server(ctx, server)
	if err != nil {
		return err
	}
	if row.Holder.Token == holder.Token {
		holder = row.Holder
	}
	return r.hold(ctx, server, holder, FenceLease, func(s *Server) (bool, error) {
		if s.Holder.Token == holder.Token {
			return s.Holder.Process == holder.Process, nil
		}
		held := s.Held()
		return held == nil, held
	})
}

// ErrNoFence says that a server has no fence of a merge.
var ErrNoFence = errors.New("it is not fenced by this merge any more")

// MarkFence changes the state of the fence that a server has with a token. Without such a fence it changes nothing,
// and the error is [ErrNoFence].
func (r *Registry) MarkFence(ctx context.Context, server gameid.ServerID, token string, state FenceState) error {
	row, err := r.Server(ctx, server)
	if err != nil {
		return err
	}
	fenced := func(s *Server) (bool, error) {
		if !s.Fenced(token) {
			return false, fmt.Errorf("store: server %s: %w", server, ErrNoFence)
		}
		return FenceState(s.Holder.Process) != state, nil
	}
	if other, err := fenced(&row); err != nil || !other {
		return err
	}
	return r.hold(ctx, server, state.In(row.Holder), FenceLease, fenced)
}

// LiftFence lifts the fence that [Registry.Fence] made with the same token. If there is no such fence it changes nothing.
func (r *Registry) LiftFence(ctx context.Context, server gameid.ServerID, token string) error {
	return r.hold(ctx, server, gameid.Holder{}, 0, func(s *Server) (bool, error) { return s.Fenced(token), nil })
}

// LiftFenceOf is [Registry.LiftFence] unless the row of the server has changed since it was read; lifted says so.
func (r *Registry) LiftFenceOf(ctx context.Context, was *Server) (lifted bool, err error) {
	return r.db.Swap(ctx, updateHolder, unchangedArgs(was.ID, was.Record(), gameid.Holder{}, 0)...)
}

const updateHolder = `
	UPDATE ` + Table + ` SET epoch = epoch + 1, holder = ?, lease_until_ms = {now} + ?, updated_ms = {now}
	WHERE ` + unchanged

// hold gives a server another holder, if wanted says so after a look at its
// row.
func (r *Registry) hold(ctx context.Context, server gameid.ServerID, holder gameid.Holder, lease time.Duration, wanted func(*Server) (bool, error)) error {
	const most = 5
	for range most {
		row, err := r.Server(ctx, server)
		if err == nil && row.World == "" {
			err = fmt.Errorf("store: server %s: %w", server, sqldb.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if want, err := wanted(&row); err != nil || !want {
			return err
		}
		if ok, err := r.db.Swap(ctx, updateHolder, unchangedArgs(server, row.Record(), holder, lease.Milliseconds())...); err != nil {
			return fmt.Errorf("store: registry of server %s: %w", server, r.explainLock(ctx, server, err))
		} else if ok {
			return nil
		}
	}
	return fmt.Errorf("store: server %s: its row in the registry keeps changing: is a game server being started?", server)
}
