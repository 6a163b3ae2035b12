package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// Options are those of package store/fleet, which says what they mean.
type Options struct {
	Name, Place               string
	Heartbeat, Lease, Timeout time.Duration
	OnChange                  func(Status)
}

func (o Options) withDefaults(reg *worldregistry.Registry) (Options, error) {
	o.Heartbeat = cmp.Or(o.Heartbeat, 30*time.Second)
	o.Lease = cmp.Or(o.Lease, 3*o.Heartbeat)
	o.Timeout = cmp.Or(o.Timeout, o.Heartbeat/3)
	o.Place = cmp.Or(o.Place, reg.Place())
	if runes := []rune(o.Place); len(runes) > maxPlace {
		o.Place = string(runes[:maxPlace])
	}
	switch {
	case o.Heartbeat < 100*time.Millisecond:
		return o, fmt.Errorf("store: fleet.Options.Heartbeat is %s, want at least 100ms", o.Heartbeat)
	case o.Lease < 2*o.Heartbeat:
		return o, fmt.Errorf("store: fleet.Options.Lease is %s, want at least twice Heartbeat (%s)", o.Lease, 2*o.Heartbeat)
	case o.Timeout < 0 || o.Timeout > o.Heartbeat:
		return o, fmt.Errorf("store: fleet.Options.Timeout is %s, want at most Heartbeat (%s)", o.Timeout, o.Heartbeat)
	}
	return o, nil
}

const maxPlace = 512 // characters

// State is the state of a world in the fleet registry.
type State string

// The states of a member.
const (
	Joined   State = "joined"   // it has the lease, as of the last heartbeat
	Away     State = "away"     // the fleet registry could not be asked, or does not know yet: the world keeps running
	Conflict State = "conflict" // the server or the world was taken: the node was stopped
	Left     State = "left"     // the member was closed
)

// Status is the state of a world in the fleet registry at one moment.
type Status struct {
	State State

	// Err is the cause of Away and Conflict, otherwise nil.
	Err error

	// Heartbeats and Failures count the attempts to report. Last is when the
	// last one succeeded, by the clock of this machine; zero if none did.
	Heartbeats, Failures uint64
	Last                 time.Time

	// OlderCopy says that at its start the database was an older copy of its world,
	// such as a restored backup: the fleet registry had seen more changes. IDs continue
	// after those that the fleet registry knows of.
	OlderCopy bool
}

// Member is a world that takes part in a fleet.
type Member struct {
	Node *gameid.Node // Close the Member rather than it

	fleet    *Fleet
	options  Options
	reserver *reserver
	world    string
	bound    string // identity of the fleet registry that the game's database remembers

	cancel  context.CancelFunc // ends the heartbeats
	idle    chan struct{}      // closed when they have ended
	closing sync.Once
	closeBy error

	// What is known of the row in the fleet registry. Only the heartbeat
	// touches it, and Close afterwards.
	epoch   int64 // of the row when it was last ours; 0 if it never was
	sure    bool  // whether it is still so, as far as we know
	base    int64 // the mark that others left there
	started int64 // how often the world's own registry had changed before this process
	waiting int64 // the epoch at which another's lease was first seen; 0 if none

	mu     sync.Mutex
	status Status
}

// Status returns the state of the world in the fleet registry.
func (m *Member) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// Close stops the node, gives its lease back, and reports that to the fleet registry,
// so that the world can start elsewhere at once. If the fleet registry cannot be
// reached, its lease runs out instead. Further calls return the same.
func (m *Member) Close() error {
	m.closing.Do(func() { m.closeBy = m.close() })
	return m.closeBy
}

func (m *Member) close() error {
	m.cancel()
	<-m.idle
	err := m.Node.Close()
	// Even when the node was lost: the one that took over may join.
	err = errors.Join(err, m.leave(context.Background()))
	if m.Status().State != Conflict {
		m.report(Left, nil)
	}
	return err
}

// leave gives the lease back, if it is ours.
func (m *Member) leave(ctx context.Context) error {
	interrupted := !m.sure && m.Status().State == Joined
	if !m.sure && !interrupted {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.options.Timeout)
	defer cancel()
	const attempts = 4
	err := worldregistry.ErrMoved
	for range attempts {
		if interrupted {
			// The last heartbeat may have renewed the lease, or may do so now.
			row, failed := m.fleet.load(ctx, m.Node.Server())
			if failed == nil && (row == nil || row.Holder.Token != m.reserver.holder().Token) {
				return nil
			} else if err = failed; err != nil {
				break
			}
			m.epoch = row.Epoch
		}
		ok, failed := m.renew(ctx, 0)
		if ok {
			return nil
		} else if err = failed; err != nil {
			break
		}
		if err = worldregistry.ErrMoved; !interrupted {
			break
		}
	}
	return fmt.Errorf("giving back the lease of server %s in the fleet registry %q: %w", m.Node.Server(), m.fleet, err)
}

// report records the outcome of a heartbeat.
func (m *Member) report(state State, err error) {
	m.mu.Lock()
	changed := m.status.State != state
	m.status.State, m.status.Err = state, err
	switch {
	case err != nil:
		m.status.Failures++
	case state == Joined:
		m.status.Heartbeats++
		m.status.Last = time.Now()
	}
	status := m.status
	m.mu.Unlock()
	if changed && m.options.OnChange != nil {
		m.options.OnChange(status)
	}
}

// heartbeats reports to the fleet registry until the member is closed or its
// node ends.
func (m *Member) heartbeats(ctx context.Context) {
	defer close(m.idle)
	// Many worlds may have been started at once: let them spread.
	timer := time.NewTimer(rand.N(m.options.Heartbeat))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.Node.Done():
			return
		case <-timer.C:
		}
		next := m.options.Heartbeat
		if !m.heartbeat(ctx) {
			next /= 4
		}
		timer.Reset(next - rand.N(next/8))
	}
}

// heartbeat renews the lease and reports whether it could. On a conflict it
// stops the node.
func (m *Member) heartbeat(ctx context.Context) bool {
	beat, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	err := m.beat(beat)
	conflict, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		m.report(Joined, nil)
	case ctx.Err() != nil: // closed
	case ok && conflict.kind != ErrNotClaimed && conflict.kind != errUnclear:
		m.sure = false
		m.Node.Fail(err)
		m.report(Conflict, err)
	default:
		m.report(Away, err)
	}
	return err == nil
}

// beat renews the lease, or takes it where that is safe. A [*Error] says
// why it is not.
func (m *Member) beat(ctx context.Context) error {
	err := m.fleet.unmoved(func() (err error) {
		if m.sure {
			if m.sure, err = m.renew(ctx, m.options.Lease); m.sure || err != nil {
				return err
			}
		}
		id, err := m.fleet.Identity(ctx)
		if err != nil {
			return err
		}
		row, err := m.fleet.load(ctx, m.Node.Server())
		if err == nil {
			err = m.judge(row, id)
		}
		if err != nil {
			return err
		}
		return m.take(ctx, row)
	})
	if err != nil {
		return err
	}
	return m.remember(ctx)
}

// errUnclear: another process had the lease when we came back; it is alive if
// it renews it.
var errUnclear = errors.New("another process may be running")

// judge decides whether a running world may take the row that it has found. A
// world that is refused does not go on, unless the error is ErrNotClaimed or
// errUnclear.
func (m *Member) judge(row *Server, id string) error {
	if err := m.fleet.claims(m.reserver.server, row, id, worldregistry.Server{World: m.world, Fleet: m.bound}, m.options); err != nil || row.World == "" {
		return err
	}
	mine := row.Holder.Token == m.reserver.holder().Token
	switch {
	case worldregistry.Generation(m.started) < worldregistry.Generation(row.WorldEpoch):
		return superseded(row, worldregistry.Server{ID: m.Node.Server(), Epoch: m.started}, m.options.Place)
	case mine:
	case m.epoch > 0 && row.Epoch >= m.epoch, m.waiting > 0 && row.Epoch > m.waiting:
		// It had the lease since we did, or had it and has renewed it.
		return m.conflict(row, ErrRunning, fmt.Sprintf(
			"mints no more here: another copy of its world took over while this one could not report: %s with the database %q, lease until %s; this is %q. "+
				"Find out which of the two databases is the right one, and start only that one: the changes of both since then cannot be in one world",
			row.Holder, row.Place, printable.Time(row.LeaseUntil), m.options.Place))
	case row.alive():
		// Our predecessor, which has ended without saying so, or a live copy.
		m.waiting = row.Epoch
		return m.conflict(row, errUnclear, "may be running elsewhere: the fleet registry has a lease of "+row.running())
	case m.epoch == 0 && m.started < row.WorldEpoch && m.reserver.first() <= row.Mark:
		return m.conflict(row, ErrOlderCopy, fmt.Sprintf(
			"mints no more here: the database %q is an older copy of its world (%d changes of its registry where the fleet registry has seen %d), "+
				"and was started while the fleet registry could not be reached, with times up to %s that the world had reserved before; %s. "+
				"Start it again: it then continues after those. IDs that it made since may exist twice, if the world had made IDs then that this copy lacks",
			m.options.Place, worldregistry.Changes(m.started), worldregistry.Changes(row.WorldEpoch), printable.Time(gameid.TimeOf(row.Mark)), row.lastSeen()))
	}
	return nil
}

func (m *Member) conflict(row *Server, kind error, reason string) error {
	return &Error{Server: m.Node.Server(), Row: *row, kind: kind, reason: reason}
}

const (
	renewFleet = `
		UPDATE fleet_servers
		SET epoch = epoch + 1, world_epoch = ?, mark_ms = ?, lease_until_ms = {now} + ?, seen_ms = {now}
		WHERE server_id = ? AND epoch = ? AND ` + sqldb.HeldBy
	takeFleet = `
		UPDATE fleet_servers
		SET epoch = ?, state = '` + Bound + `', world = ?, bound_ms = CASE WHEN bound_ms = 0 THEN {now} ELSE bound_ms END,
			world_epoch = ?, mark_ms = ?, holder = ?, place = ?, lease_until_ms = {now} + ?, seen_ms = {now}
		WHERE server_id = ? AND epoch = ?`
)

// renew reports the state of the world and prolongs the lease, or ends it if
// that is 0. It returns false if the row is not as we left it.
func (m *Member) renew(ctx context.Context, lease time.Duration) (ok bool, err error) {
	epoch, mark := m.reserver.progress()
	args := append([]any{epoch, max(mark, m.base), lease.Milliseconds(), m.reserver.server, m.epoch}, sqldb.HeldByArgs(m.reserver.holder().Token)...)
	err = sqldb.Retry(ctx, func() error {
		ok, err = m.fleet.db.Swap(ctx, renewFleet, args...)
		return err
	})
	if ok {
		m.epoch++
	}
	return ok, m.fleet.fault(err)
}

// take makes the row ours: it binds the server if that is free. It returns
// worldregistry.ErrMoved if the row is not as given.
func (m *Member) take(ctx context.Context, row *Server) error {
	world, mark := m.reserver.progress()
	holder := m.reserver.holder()
	base := m.base
	if row.Holder.Token != holder.Token {
		base = row.Mark
	}
	// A fleet registry that was restored from an older copy may be behind.
	epoch := max(row.Epoch, m.epoch) + 1
	var err error
	args := []any{epoch, m.world, world, max(mark, base), holder, m.options.Place, m.options.Lease.Milliseconds(), row.ID, row.Epoch}
	if row.World == "" {
		note := Note{By: holder.String(), Why: "the first start, with the database " + m.options.Place}
		err = m.fleet.change(ctx, row.ID, "bind", note, takeFleet, args...)
		if errors.Is(err, sqldb.ErrDuplicate) {
			return m.fleet.taken(ctx, row.ID, "world = ?", m.world, fmt.Sprintf("is not the server of the world of %q", m.options.Place), err)
		}
	} else {
		err = m.fleet.fault(sqldb.Retry(ctx, func() error {
			return moved(m.fleet.db.Swap(ctx, takeFleet, args...))
		}))
	}
	if err != nil {
		return err
	}
	m.epoch, m.sure, m.base, m.waiting = epoch, true, base, 0
	return nil
}
