package fleet

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// Note names the operator who changes something in the fleet registry, and the reason. It is kept
// in the history of the server: see [Fleet.Show].
type Note struct {
	By  string // at most 255 characters
	Why string // at most 1024 characters
}

// check refuses a note that is too long, before the database does.
func (n Note) check() error {
	for _, part := range []struct {
		what, text string
		most       int
	}{{"name of the operator", n.By, 255}, {"reason", n.Why, 1024}} {
		if got := utf8.RuneCountInString(part.text); got > part.most {
			return fmt.Errorf("%w: the %s %.40q has %d characters: want at most %d", sqldb.ErrInvalid, part.what, part.text, got, part.most)
		}
	}
	return nil
}

const (
	insertFleet = `
		INSERT INTO fleet_servers (server_id, name, state, epoch, claimed_ms)
		VALUES (?, ?, '` + Claimed + `', 1, {now})`
	insertHistory = `
		INSERT INTO fleet_history (server_id, epoch, at_ms, action, world, who, why)
		SELECT server_id, epoch, {now}, ?, world, ?, ? FROM fleet_servers WHERE server_id = ?`

	// The lowest server that was never claimed: the first, or the one after a
	// server that has no successor.
	nextFleet = `
		SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM fleet_servers WHERE server_id = 1) THEN 1 ELSE (
			SELECT MIN(s.server_id) + 1 FROM fleet_servers AS s
			WHERE NOT EXISTS (SELECT 1 FROM fleet_servers AS n WHERE n.server_id = s.server_id + 1)) END`
)

// Claim takes a server for a new world: the given one, or if that is 0 the lowest that
// was never claimed. Any number of callers may do so at the same time: no two get the same
// server, and none is skipped.
//
// The name, of 1 to 64 characters, is for people. If the name or the server is taken,
// even if that server is retired, Claim returns [ErrTaken]. So a claim that ended with
// [mergesafe/store.ErrOutcomeUnknown] can be repeated: if it was made, the message of ErrTaken
// names the server.
func (f *Fleet) Claim(ctx context.Context, name string, server gameid.ServerID, note Note) (Server, error) {
	if err := checkName(name); err != nil {
		return Server{}, err
	}
	if server != 0 {
		if err := server.Validate(); err != nil {
			return Server{}, err
		}
	}
	if _, err := f.Identity(ctx); err != nil {
		return Server{}, err
	}
	id := server
	err := contend(ctx, func() (gameid.ServerID, bool, error) {
		if server == 0 {
			if err := f.db.Get(ctx, &id, nextFleet); err != nil {
				return 0, false, f.fault(err)
			}
			if !id.IsValid() {
				return 0, false, f.fault(fmt.Errorf("all %d servers are claimed", gameid.MaxServer))
			}
		}
		err := f.change(ctx, id, "claim", note, insertFleet, id, name)
		duplicate, ok := errors.AsType[*sqldb.DuplicateError](err)
		switch {
		case ok && duplicate.Key == "name":
			return 0, false, f.taken(ctx, id, "name = ?", name, fmt.Sprintf("cannot have the name %q", name), err)
		case ok && server != 0:
			return 0, false, f.taken(ctx, id, "server_id = ?", server, "cannot be claimed", err)
		}
		return id, server == 0 && (ok || errors.Is(err, sqldb.ErrRetryable)), err
	})
	if err != nil {
		return Server{}, err
	}
	found, err := f.load(ctx, id)
	if err == nil && found == nil {
		err = f.fault(fmt.Errorf("server %s: %w after it was claimed", id, sqldb.ErrNotFound))
	}
	if err != nil {
		return Server{ID: id}, fmt.Errorf("%w: server %s was claimed, and its row could not be read: %w", sqldb.ErrOutcomeUnknown, id, err)
	}
	return *found, nil
}

// contend calls try again if it says so: another caller was faster. try returns the server that it has found free.
// While that rises, others get theirs; if it does not, contend gives up.
func contend(ctx context.Context, try func() (free gameid.ServerID, again bool, err error)) error {
	const most = 5
	highest := gameid.ServerID(0)
	for stuck := 0; ; stuck++ {
		free, again, err := try()
		switch {
		case !again:
			return err
		case free > highest:
			highest, stuck = free, 0
		case stuck == most:
			return fmt.Errorf("server %d is free, and could not be taken: %w", free, err)
		}
		if !pause(ctx, 10*time.Millisecond<<stuck) {
			return err
		}
	}
}

// pause waits for a random time, so that callers that are as late spread. It returns false if ctx ends meanwhile.
func pause(ctx context.Context, most time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(rand.N(most)):
		return true
	}
}

func checkName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > 64 || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%w: the name %.40q is not fit for a server: want 1 to 64 characters, none of them a control character",
			sqldb.ErrInvalid, name)
	}
	return nil
}

// ClaimRange is [Fleet.Claim] for all servers of a range, which the processes of
// one world share: see [Fleet.JoinFree]. The name of each is the given one and the
// server, such as s4-40. It claims all of them, or none.
func (f *Fleet) ClaimRange(ctx context.Context, name string, servers worldregistry.ServerRange, note Note) ([]Server, error) {
	if err := cmp.Or(checkName(name), servers.Validate(), checkName(rangeName(name, servers.Last))); err != nil {
		return nil, err
	}
	if _, err := f.Identity(ctx); err != nil {
		return nil, err
	}
	var at gameid.ServerID
	err := f.fault(f.db.RetryTx(ctx, func(tx *sqldb.Tx) error {
		for at = servers.First; at <= servers.Last; at++ {
			if err := changeIn(ctx, tx, at, "claim", note, insertFleet, at, rangeName(name, at)); err != nil {
				return err
			}
		}
		return nil
	}))
	switch duplicate, ok := errors.AsType[*sqldb.DuplicateError](err); {
	case ok && duplicate.Key == "name":
		return nil, f.taken(ctx, at, "name = ?", rangeName(name, at), fmt.Sprintf("cannot have the name %q, and nothing was claimed", rangeName(name, at)), err)
	case ok:
		return nil, f.taken(ctx, at, "server_id = ?", at, fmt.Sprintf("cannot be claimed, and no other of the range %s was", servers), err)
	case err != nil:
		return nil, err
	}
	return f.inRange(ctx, servers)
}

func rangeName(name string, server gameid.ServerID) string { return fmt.Sprintf("%s-%s", name, server) }

func (f *Fleet) inRange(ctx context.Context, servers worldregistry.ServerRange) ([]Server, error) {
	return f.find(ctx, " WHERE server_id BETWEEN ? AND ? ORDER BY server_id", servers.First, servers.Last)
}

// taken explains a duplicate by the row that is in the way.
func (f *Fleet) taken(ctx context.Context, server gameid.ServerID, where string, value any, what string, cause error) error {
	found, err := f.find(ctx, " WHERE "+where, value)
	if err != nil || len(found) == 0 {
		return cause // it has no more to say than the database
	}
	row := found[0]
	return &Error{Server: server, Row: row, kind: ErrTaken, reason: fmt.Sprintf(
		"%s: server %s, %q, has been claimed on %s, and is %s now", what, row.ID, row.Name, printable.Time(row.ClaimedAt), row.State)}
}

// change makes a change to the row of a server together with its entry in the history. If the statement does not find the
// row as it wants it, nothing is changed, and the error is [worldregistry.ErrMoved].
func (f *Fleet) change(ctx context.Context, server gameid.ServerID, action string, note Note, query string, args ...any) error {
	err := f.db.RetryTx(ctx, func(tx *sqldb.Tx) error { return changeIn(ctx, tx, server, action, note, query, args...) })
	return f.fault(f.db.ExplainLock(ctx, err, fmt.Sprintf("server %s", server), "SELECT server_id FROM fleet_servers WHERE server_id = ?", server))
}

// changeIn is change within a transaction.
func changeIn(ctx context.Context, tx *sqldb.Tx, server gameid.ServerID, action string, note Note, query string, args ...any) error {
	if err := note.check(); err != nil {
		return err
	}
	if err := moved(tx.Swap(ctx, query, args...)); err != nil {
		return err
	}
	_, err := tx.ExecKind(ctx, sqldb.Seldom, fmt.Sprintf("history of server %s", server), tx.Dialect().With(insertHistory), action, note.By, note.Why, server)
	return err
}

// moved is [worldregistry.ErrMoved] of a change that did not find the row as it wanted it.
func moved(ok bool, err error) error {
	if err == nil && !ok {
		err = worldregistry.ErrMoved
	}
	return err
}

// unmoved calls try again while others change the row between its look and its change.
func (f *Fleet) unmoved(try func() error) error {
	const attempts = 4
	for range attempts {
		if err := try(); !errors.Is(err, worldregistry.ErrMoved) {
			return err
		}
	}
	return f.fault(worldregistry.ErrMoved)
}

const (
	retireFleet = `UPDATE fleet_servers SET state = '` + Retired + `', epoch = epoch + 1 WHERE server_id = ? AND epoch = ?`
	rebindFleet = `
		UPDATE fleet_servers
		SET state = '` + Bound + `', world = ?, epoch = epoch + 1, world_epoch = 0, holder = '', place = '', gone_into = '', lease_until_ms = 0, bound_ms = {now}
		WHERE server_id = ? AND epoch = ?`
)

// Retire ends the use of a server: no world can start as that server any more. The
// server and its name are not given to another world. It returns [ErrRunning] while
// a live process has its lease, and [ErrRetired] if the server is retired already.
func (f *Fleet) Retire(ctx context.Context, server gameid.ServerID, note Note) error {
	row, err := f.idle(ctx, server, "be retired")
	switch {
	case err != nil:
		return err
	case row.State == Retired:
		return &Error{Server: server, Row: *row, kind: ErrRetired, reason: "is retired already"}
	}
	return f.change(ctx, server, "retire", note, retireFleet, server, row.Epoch)
}

// Rebind gives a server to the world of that identity (see [worldregistry.Server.World]),
// whichever world it belonged to: it overrides a binding that is otherwise permanent.
// Use it for a world that has lost its identity with its registry row, or for a server
// that was claimed for the wrong database.
//
// The mark of the old world stays, so that the IDs of the new one begin after it. If
// other databases have rows of the old world, their IDs still name the server, and the
// old binding no longer protects them: the reason should explain why that does not
// matter. The note must have a reason. It returns [ErrRunning] while a live process has the lease
// of the server, and [ErrTaken] if the world is another server.
func (f *Fleet) Rebind(ctx context.Context, server gameid.ServerID, world string, note Note) error {
	if b, err := hex.DecodeString(world); err != nil || len(b) != 16 || world != strings.ToLower(world) {
		return fmt.Errorf("%.40q is not the identity of a world: want 32 hexadecimal digits, as \"gameid servers inspect -json DATABASE\" shows them", world)
	}
	if strings.TrimSpace(note.Why) == "" {
		return fmt.Errorf("server %s cannot be given to another world without a reason", server)
	}
	row, err := f.idle(ctx, server, "be given to another world")
	if err != nil {
		return err
	}
	err = f.change(ctx, server, "rebind", note, rebindFleet, world, server, row.Epoch)
	if errors.Is(err, sqldb.ErrDuplicate) {
		return f.taken(ctx, server, "world = ?", world, "cannot be given to that world, which is another server already", err)
	}
	return err
}

// idle returns the row of a server, which must exist and not be in use.
func (f *Fleet) idle(ctx context.Context, server gameid.ServerID, what string) (*Server, error) {
	row, err := f.load(ctx, server)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return nil, f.notClaimed(server, "", "-server "+server.String())
	case row.alive():
		return nil, &Error{Server: server, Row: *row, kind: ErrRunning, reason: fmt.Sprintf(
			"cannot %s while it runs: %s; stop it first, or wait for the end of the lease", what, row.running())}
	}
	return row, nil
}
