// Package registry opens the nodes of a game in its own database: a table there has one row for
// each server whose IDs may be in the database: the time up to which IDs are reserved, and the process
// that has the lease.
package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
)

// Dialect is a kind of database.
type Dialect string

// The dialects. MySQL stands for MariaDB and all others that speak its protocol.
const (
	MySQL  = Dialect(sqldb.MySQL)
	SQLite = Dialect(sqldb.SQLite)

	PostgreSQL = Dialect(sqldb.PostgreSQL)
)

// Registry is the table of the servers of a database. It has no data of the game. Any number of
// goroutines may use it.
//
// # What it relies on
//
// Commits must be durable. Package store opens SQLite with the settings for that. In a
// pool that the game opened, each connection gets synchronous = FULL and a busy timeout
// while the registry uses it, and journal_mode OFF or MEMORY is refused. The settings of
// a MySQL server are read when a node is opened, and about every minute after that:
//
//   - innodb_flush_log_at_trx_commit 0 or 2, innodb_flush_method with nosync, no
//     doublewrite, and no redo log are refused, unless NodeOptions.AcceptLossyDatabase
//     is set. Sequences of numbers (package numbers) always refuse them.
//   - sync_binlog other than 1 with a binary log is a warning: the server itself keeps
//     confirmed changes, but its replica may lack some, like any replica that lags. If
//     such a replica is promoted, the clocks keep IDs unique: see [gameid.Node].
//   - On Galera and MySQL's Group Replication, with at least two members, all of
//     these are warnings: the other members have a transaction before it is
//     confirmed, so it is lost only if all of them lose power at the same time.
//
// On every connection the registry sets the settings that it needs, such as autocommit and the
// character set, and reads them back. What the server, the account or the DSN says does not matter. Every change is in a transaction of its own.
type Registry worldregistry.Registry // to which package fleet and the tools convert it

func (r *Registry) world() *worldregistry.Registry { return (*worldregistry.Registry)(r) }

// Open returns the registry of a database of that kind, on a pool that the game or its ORM opened. The
// database must answer. The registry takes connections from the pool, sets on them the settings that
// uniqueness relies on, and restores their own settings afterwards.
func Open(ctx context.Context, pool *sql.DB, dialect Dialect) (*Registry, error) {
	db, err := sqldb.Adopt(ctx, pool, sqldb.Dialect(dialect))
	if err != nil {
		return nil, err
	}
	return (*Registry)(worldregistry.New(db)), nil
}

// Pool returns the pool that the registry works on.
func (r *Registry) Pool() *sql.DB { return r.world().Pool() }

// String names the database, without secrets.
func (r *Registry) String() string { return r.world().String() }

// Create makes the table of the registry, unless it exists. It may be called at every
// start and by several processes at once. If a process was interrupted, the next call finishes its work.
// If another program or another version made a table of that name, Create
// returns an error that is store.ErrSchema. Other tables
// are neither read nor changed.
func (r *Registry) Create(ctx context.Context) error { return r.world().Create(ctx) }

// SchemaText returns the statements that make the table of the registry, in a
// database of that kind, for tools that run migrations, such as goose,
// golang-migrate and atlas. [Registry.Create] and [Registry.OpenNode] accept the table
// that they make.
func SchemaText(d Dialect) string { return worldregistry.SchemaText(sqldb.Dialect(d)) }

// NodeOptions say how a node is opened. The zero value is right for almost every game.
type NodeOptions struct {
	gameid.Options

	// AcceptLossyDatabase opens the node also if the database may lose confirmed changes. If it
	// loses some, only the clocks keep IDs unique: those of the database and of the
	// machine must not have been set back. Rows of the game that it loses are gone.
	AcceptLossyDatabase bool

	// The node begins above the largest ID of its server in the tables, so that a lost or
	// restored row of the registry does no harm. It looks for that ID in the columns that match
	// FloorOnly, by default the first column of each primary key if it has 10
	// bytes, except columns that match FloorExcept, such as tokens of 10 bytes that are not
	// IDs. Patterns are those of [path.Match], for "table.column" in lower case.
	FloorOnly, FloorExcept []string
}

// OpenNode starts the node of a server on this registry. It returns the errors of
// [gameid.OpenNode], and also these:
//
//   - an error that is store.ErrSchema, if the table of the registry cannot be used;
//   - a [*FencedError], if a merge keeps the servers of this database from starting;
//   - a [*LossyError], if the database may lose confirmed changes, unless
//     NodeOptions.AcceptLossyDatabase is set;
//   - a [*BoundError], if the world is bound in a fleet registry: package store/fleet
//     starts it;
//   - an error, if a merge brought the rows of the server to this database, or if the pool may open
//     one connection only: minting inside a transaction would wait for itself.
//
// Close the node before the pool.
func (r *Registry) OpenNode(ctx context.Context, server gameid.ServerID, options NodeOptions) (*gameid.Node, error) {
	own, err := r.world().Admit(ctx, server, worldregistry.NodeOptions(options))
	if err == nil {
		err = r.bound(own)
	}
	if err != nil {
		return nil, err
	}
	through := reserver{r.world(), worldregistry.NodeOptions(options)}
	return r.world().Start(ctx, own, through, through.options)
}

// reserver is the registry as one node uses it, with its options.
type reserver struct {
	*worldregistry.Registry
	options worldregistry.NodeOptions
}

// Floor implements [gameid.Floorer].
func (r reserver) Floor(ctx context.Context, server gameid.ServerID) (int64, error) {
	return r.Registry.Floor(ctx, server, r.options)
}

// ServerRange is a range of at most 4096 servers, from First to Last, both ends included.
type ServerRange = worldregistry.ServerRange

// OpenFreeNode is [Registry.OpenNode] for any server of a range that no live
// process holds: [gameid.Node.Server] says which server it is. Use it for processes
// that come and go, such as the pods of one world. The mark of a server stays in
// its row, and the next process that takes the server begins above it. A server
// can therefore be taken again at once.
//
// If no server is free, it returns a [*NoneFreeError]. It takes no server whose rows came by a
// merge or whose mark is in the far future. If a server of the range is bound in a fleet
// registry, it returns a [*BoundError].
func (r *Registry) OpenFreeNode(ctx context.Context, servers ServerRange, options NodeOptions) (*gameid.Node, error) {
	return worldregistry.FirstFree(ctx, r.world(), servers, worldregistry.NodeOptions(options), func(own worldregistry.Server) (*gameid.Node, error) {
		return r.OpenNode(ctx, own.ID, options)
	}, func(rows []worldregistry.Server) (map[gameid.ServerID]error, error) {
		for _, s := range rows {
			if err := r.bound(s); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// bound returns a [*BoundError] if the world of a server is bound in a fleet registry.
func (r *Registry) bound(s worldregistry.Server) error {
	if s.Fleet == "" {
		return nil
	}
	return &BoundError{Server: s.ID, Fleet: s.Fleet, Place: r.world().Place()}
}

// Server is a server whose IDs may be in the database.
type Server struct {
	ID   gameid.ServerID
	Name string // for people, may be empty

	// World is the random identity of the game world, 32 hexadecimal digits, made with
	// the row. If two databases both have a server 7, they hold the same world,
	// or copies of it, only if World is the same too.
	World string

	Merged bool // its rows came here by a merge; otherwise its process writes, or wrote, to this database

	// Holder is the process that has the lease, or had it last. The lease ends at
	// LeaseUntil, by the clock of the database. Leased says whether it was still running
	// when the row was read.
	Holder     gameid.Holder
	LeaseUntil time.Time
	Leased     bool
}

// Servers returns every server whose IDs may be in the database, in their order.
func (r *Registry) Servers(ctx context.Context) ([]Server, error) {
	rows, err := r.world().Servers(ctx)
	var servers []Server
	for _, s := range rows {
		servers = append(servers, Server{s.ID, s.Name, s.World, s.Role == worldregistry.RoleMerged, s.Holder, s.LeaseUntil, s.Leased})
	}
	return servers, err
}

// SetName gives a server a name of at most 64 characters, for people to read.
// The server must be in the registry: a node has been opened, or its rows were
// merged in. Otherwise it returns store.ErrNotFound.
func (r *Registry) SetName(ctx context.Context, server gameid.ServerID, name string) error {
	return r.world().SetName(ctx, server, name)
}

// Lossy is a setting with which a database may lose confirmed changes: a Variable of the database and its
// Value, the Risk, and as Fix the statement that corrects it. A Serious one is refused, others are warnings.
type Lossy = worldregistry.Lossy

// Warnings returns the settings with which the database may lose confirmed changes, as
// they were last read: they are read when a node is opened, and after that about every minute, when
// its reservation is renewed.
func (r *Registry) Warnings() []Lossy { return r.world().Warnings() }

// LossyError says that the database at Place may lose confirmed changes, because of its Settings. If Final,
// that cannot be accepted: a sequence of numbers relies on the database alone.
type LossyError = worldregistry.LossyError

// FencedError says that a Server was not started, because a merge keeps it from starting: see its Fence. errors.As finds
// the [*gameid.HeldError] in it.
type FencedError = worldregistry.FencedError

// NoneFreeError says that no server of a range can be taken. Refused has the reason for each: a
// [*gameid.HeldError] that names the process, a [*gameid.MarkError], or another one; errors.As finds them.
type NoneFreeError = worldregistry.NoneFreeError

// BoundError says that a world does not start without the fleet registry in which it is bound.
type BoundError struct {
	Server gameid.ServerID
	Fleet  string // the identity of the fleet registry
	Place  string // the database, without secrets
}

func (e *BoundError) Error() string {
	return fmt.Sprintf("server %s with the database %q is bound in a fleet registry (identity %s) and does not start without it: start it with fleet.Join; "+
		"if the world leaves that fleet permanently, see: gameid servers leave -h", e.Server, e.Place, e.Fleet)
}
