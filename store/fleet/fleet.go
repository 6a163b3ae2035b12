// Package fleet starts the nodes of worlds that share a fleet registry: a database that binds each server to
// one world permanently, and refuses a second live copy of a world. Operators claim servers and maintain the
// registry with the tool gameid.
//
// # Limits
//
// The fleet registry detects copies; it cannot fence them. A world that cannot reach it keeps
// running, even beside a copy of itself, until the connection is back; then one of the two is
// stopped. If the fleet registry can be reached, a copy is refused at its start, or
// stopped at its next report: after [Options].Heartbeat, 30 s by default.
//
// A machine that was suspended, or a process that was frozen, may issue IDs and
// write rows until it notices that another process took over: until its next
// renewal in the game's database (a third of gameid.Options.Window, 3.3 s by
// default) or its next report here (30 s). The IDs are unique all the same. If rows
// matter too, check the lease in the transaction that writes them:
// [mergesafe/store.Tx.Guard].
package fleet

import (
	"context"
	"time"

	"mergesafe/gameid"
	inner "mergesafe/internal/fleet"
	"mergesafe/internal/worldregistry"
	"mergesafe/store/registry"
)

// Fleet is the fleet registry: one database, shared by all worlds, that binds
// each server to one world permanently. A game's own [registry.Registry] makes
// its IDs unique, but cannot see another database that uses the same server. The fleet
// registry sees that, and also a second live copy of one world, such as a cloned disk
// or a restored backup.
//
// The tool "gameid servers" makes its tables, and claims and retires servers. Any number of goroutines
// may use a Fleet.
type Fleet inner.Fleet // to which package numbers converts it

func (f *Fleet) inner() *inner.Fleet { return (*inner.Fleet)(f) }

// Open returns the fleet registry that dsn names, in the form of store.Open. It does not
// connect: the first use does, so that a world can start while the fleet registry cannot
// be reached. If Open returns an error, the DSN is wrong. The caller closes the Fleet.
// A connection is closed after each use, except with SQLite.
func Open(dsn string) (*Fleet, error) {
	f, err := inner.Open(dsn)
	return (*Fleet)(f), err
}

// Close closes the connections. Close the members first.
func (f *Fleet) Close() error { return f.inner().Close() }

// String returns the DSN without its secrets.
func (f *Fleet) String() string { return f.inner().String() }

// GoString is [Fleet.String] for %#v.
func (f *Fleet) GoString() string { return f.inner().GoString() }

// Options tune how a world takes part in a fleet. The zero value is right
// for almost every game.
type Options struct {
	// Name is used only if the server is not claimed: the error then shows the
	// command that claims the server under this name.
	Name string

	// Place names this database for people. The default is its DSN without secrets.
	Place string

	// Heartbeat is how often the world reports to the fleet registry. Default
	// 30 s. After a failure it tries again after a quarter of that.
	Heartbeat time.Duration

	// Lease is how long a world that stopped reporting keeps other copies from
	// starting. Default three times Heartbeat, at least twice Heartbeat.
	Lease time.Duration

	// Timeout bounds each exchange with the fleet registry, and so how long a start
	// waits for a fleet registry that does not answer. Default a third of Heartbeat,
	// at most Heartbeat.
	Timeout time.Duration

	// OnChange is called with every change of Status.State, one at a
	// time, the first before Join returns. It is meant for logs and must
	// not call Close.
	OnChange func(Status)
}

// Join starts the node of a server, as [registry.Registry.OpenNode] does, with
// the consent of the fleet registry, and keeps reporting to it. The first start
// binds the server to the world of this database permanently.
//
// It returns a [*Error] if the server is not claimed (ErrNotClaimed), if it is
// retired (ErrRetired) or belongs to another world (ErrOtherWorld), if a merge moved the world
// to another database (ErrSuperseded), or if a live copy of the same world
// runs elsewhere (ErrRunning): a process has the lease, and is not known to have ended.
// On Linux, Join notices if that process ran on this machine and has ended; otherwise its
// lease has to run out first. If the wall clock disagrees with the fleet registry's by
// more than MaxSkew, Join returns a [*gameid.ClockError]. If the database of the game may
// lose confirmed changes, it returns a [*registry.LossyError].
//
// If the fleet registry cannot be reached, or takes no changes, a world that was bound
// before still starts, and a world that runs keeps running; the status is then Away. A world that was never
// bound does not start (ErrNotBound). When the fleet registry can be reached again, and
// another copy of the world, or another world, has the server, the node is stopped: of
// two copies that started meanwhile, one keeps running.
//
// The IDs begin after the mark that the world reported last, whatever this database
// says. So a restored backup does not repeat IDs.
func (f *Fleet) Join(ctx context.Context, reg *registry.Registry, server gameid.ServerID, node registry.NodeOptions, options Options) (*Member, error) {
	return joined(f.inner().Join(ctx, (*worldregistry.Registry)(reg), server, worldregistry.NodeOptions(node), inner.Options(options)))
}

// JoinFree is [Fleet.Join] for any server of a range that no live process holds,
// as [registry.Registry.OpenFreeNode] is for a world without a fleet registry.
// Claim the range with "gameid servers claim -servers".
//
// The first start binds all servers of the range to the world of this database,
// in one transaction: another world that is configured with the same range is
// refused ([ErrOtherWorld]), even if most of the servers are free. A world that
// was bound starts even while the fleet registry cannot be reached.
//
// If no server is free, it returns a [*registry.NoneFreeError].
//
// A live copy of the world may run elsewhere, as another server of the range. JoinFree
// returns [ErrRunning] once the processes of that copy have reported changes that this
// database lacks; they report every Heartbeat. Until then, a process of either copy can
// take a server that no other process holds: IDs stay unique, and the next start on
// either side is refused.
func (f *Fleet) JoinFree(ctx context.Context, reg *registry.Registry, servers registry.ServerRange, node registry.NodeOptions, options Options) (*Member, error) {
	return joined(f.inner().JoinFree(ctx, (*worldregistry.Registry)(reg), servers, worldregistry.NodeOptions(node), inner.Options(options)))
}

// Member is a world that takes part in a fleet: see [Fleet.Join].
type Member struct {
	Node *gameid.Node // Close the Member rather than it

	inner *inner.Member
}

func joined(m *inner.Member, err error) (*Member, error) {
	if err != nil {
		return nil, err
	}
	return &Member{m.Node, m}, nil
}

// Status returns the state of the world in the fleet registry.
func (m *Member) Status() Status { return m.inner.Status() }

// Close stops the node, gives its lease back, and reports that to the fleet registry,
// so that the world can start elsewhere at once. If the fleet registry cannot be
// reached, its lease there runs out instead. Further calls return the same.
func (m *Member) Close() error { return m.inner.Close() }

// Status is the state of a world in the fleet registry at one moment: its State, and Err, the cause of Away and
// Conflict. Heartbeats and Failures count the attempts to report, and Last is when one last succeeded, by the clock of this
// machine. OlderCopy says that at its start the database was an older copy of its world, such as a restored backup: IDs
// continue after those that the fleet registry knows of.
type Status = inner.Status

// State is the state of a world in the fleet registry.
type State = inner.State

// The states of a member.
const (
	Joined   = inner.Joined   // it has the lease, as of the last heartbeat
	Away     = inner.Away     // the fleet registry could not be asked, or does not know yet: the world keeps running
	Conflict = inner.Conflict // the server or the world was taken: the node was stopped
	Left     = inner.Left     // the member was closed
)

// The reasons for which the fleet registry refuses a request, for errors.Is. The error
// is a [*Error].
var (
	// ErrNotClaimed: the server is not claimed.
	ErrNotClaimed = inner.ErrNotClaimed

	// ErrTaken: the server or the name to be claimed, or the world to be bound, is
	// taken already.
	ErrTaken = inner.ErrTaken

	// ErrRetired: the server is retired.
	ErrRetired = inner.ErrRetired

	// ErrOtherWorld: the server belongs to another world.
	ErrOtherWorld = inner.ErrOtherWorld

	// ErrRunning: a live process has the lease of the server. When a world starts,
	// that process is a live copy of it.
	ErrRunning = inner.ErrRunning

	// ErrOlderCopy: the database is an older copy of its world, and while the fleet registry
	// could not be reached, its node used times that the world had used already.
	ErrOlderCopy = inner.ErrOlderCopy

	// ErrSuperseded: the database is a copy from before a merge took its world into a new database, or
	// from before an undo took it back.
	ErrSuperseded = inner.ErrSuperseded

	// ErrOtherFleet: the world is bound in another fleet registry.
	ErrOtherFleet = inner.ErrOtherFleet

	// ErrNotBound: the world was never bound, and the fleet registry cannot be
	// reached.
	ErrNotBound = inner.ErrNotBound
)

// Error says why a Server may not be claimed, changed or used. Row is its row in the fleet registry.
type Error = inner.Error
