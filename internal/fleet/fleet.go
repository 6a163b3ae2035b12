// Package fleet is the registry that many worlds share: it binds each server to one world permanently, and refuses
// a second live copy of a world. It can also record where the databases of worlds are. Package store/fleet is what a game
// server calls of it.
package fleet

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

var (
	//go:embed schema/mysql.sql
	mysqlTables string
	//go:embed schema/sqlite.sql
	sqliteTables string
	//go:embed schema/postgres.sql
	postgresTables string
)

var part = &sqldb.Part{
	Mark:    sqldb.FleetMark,
	Absent:  `the database has no fleet registry yet: make it with "gameid servers init", or check that it is the right one`,
	Unready: `run "gameid servers init" once more`,
	Tables:  []string{"fleet_registry", "fleet_servers", "fleet_history", NumbersTable, placesTable},
	Version: 1,
	SQL:     map[sqldb.Dialect]string{sqldb.MySQL: mysqlTables, sqldb.SQLite: sqliteTables, sqldb.PostgreSQL: postgresTables},
	Fill:    nameFleet,
}

// NumbersTable is the table in which package store/numbers keeps the sequences
// that all worlds share.
const NumbersTable = "fleet_numbers"

// Fleet is that database. A server is first claimed ([Fleet.Claim]), then bound to the first world that starts with it
// ([Fleet.Join]), and perhaps retired one day ([Fleet.Retire]). It is never given to another world, unless an operator
// overrides that and gives a reason ([Fleet.Rebind]). Any number of goroutines may use a Fleet.
type Fleet struct {
	db   *sqldb.DB
	path string // of an SQLite file

	mu sync.Mutex
	id string // see Identity
}

// Open is that of package store/fleet.
//
// A connection to a server is closed a second after its use, because thousands of game servers, each
// with two calls a minute, may share one database.
func Open(dsn string) (*Fleet, error) {
	db, err := sqldb.Open(dsn, sqldb.ReadWrite)
	if err != nil {
		return nil, err
	}
	f := &Fleet{db: db}
	if !db.Dialect().Words().File {
		db.Pool().SetMaxIdleConns(1)
		db.Pool().SetConnMaxIdleTime(time.Second)
	} else {
		_, f.path, _ = sqldb.SplitDSN(dsn)
	}
	return f, nil
}

// Close closes the connections. Close the members before.
func (f *Fleet) Close() error { return f.db.Close() }

// Pool returns the pool that the fleet registry works on.
func (f *Fleet) Pool() *sql.DB { return f.db.Pool().DB }

// Dialect returns the kind of the database.
func (f *Fleet) Dialect() sqldb.Dialect { return f.db.Dialect() }

// String returns the DSN without its secrets.
func (f *Fleet) String() string { return f.db.String() }

// GoString is [Fleet.String] for %#v.
func (f *Fleet) GoString() string { return fmt.Sprintf("fleet.Fleet(%q)", f) }

// Create makes the tables of a fleet registry, unless they exist. It
// refuses the database of a game or of another program with an error that is
// store.ErrSchema.
//
// Call it once, by hand. A game server must not call it: with a typing error in its DSN
// it would make a second fleet registry, which gives out the same servers.
func (f *Fleet) Create(ctx context.Context) error {
	err := f.db.Connect(ctx)
	if err == nil {
		err = part.Create(ctx, f.db)
	}
	return f.fault(err)
}

// nameFleet gives a new fleet registry its identity.
func nameFleet(ctx context.Context, s *sqldb.Session) error {
	_, err := s.Exec(ctx, s.Dialect().With("INSERT INTO fleet_registry (one, id, created_ms) VALUES (1, ?, {now})"), sqldb.NewIdentity())
	if errors.Is(err, sqldb.ErrDuplicate) {
		return nil
	}
	return err
}

// Identity returns the random identity of this fleet registry, 32 hexadecimal
// digits. The first call makes sure that the tables are those of a fleet registry.
func (f *Fleet) Identity(ctx context.Context) (string, error) {
	f.mu.Lock()
	id := f.id
	f.mu.Unlock()
	if id != "" {
		return id, nil
	}
	if f.path != "" { // SQLite would make the file
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			return "", f.fault(fmt.Errorf(`no such file: make the fleet registry with "gameid servers init", or check the path: %w (%w)`, sqldb.ErrUnavailable, fs.ErrNotExist))
		}
	}
	if err := f.db.Connect(ctx); err != nil {
		return "", f.fault(err)
	}
	if err := part.Check(ctx, f.db); err != nil {
		return "", f.fault(err)
	}
	err := f.db.Get(ctx, &id, "SELECT id FROM fleet_registry")
	if errors.Is(err, sqldb.ErrNotFound) {
		err = &sqldb.SchemaError{Reason: "its table fleet_registry has no row: restore it from a backup"}
	}
	if err != nil {
		return "", f.fault(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id = id
	return id, nil
}

// fault says of an error that it is about the fleet registry.
func (f *Fleet) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fleet registry %q: %w", f, err)
}

// The states of a server.
const (
	Claimed = "claimed" // taken, and not yet used by any world
	Bound   = "bound"   // belongs to one world
	Retired = "retired" // belonged to a world, and belongs to none any more
)

// Server is the row of one server in the fleet registry.
type Server struct {
	ID    gameid.ServerID `db:"server_id"`
	Name  string          `db:"name"`  // for people; no two servers have the same
	State string          `db:"state"` // Claimed, Bound or Retired

	// World is the identity of the world (see [worldregistry.Server]); empty until it is
	// bound.
	World string `db:"world"`

	// Epoch counts the changes of this row.
	Epoch int64 `db:"epoch"`

	// WorldEpoch and Mark are from the last report of the world about its own
	// registry: the number of changes of its row, and the time up to which it had
	// reserved IDs, in milliseconds since gameid.EpochMillis. A database of
	// the world with fewer changes is an older copy.
	WorldEpoch int64 `db:"world_epoch"`
	Mark       int64 `db:"mark_ms"`

	// Holder is the process that has the lease, or had it last, and Place the database
	// that it uses, without secrets, as the process names it. The lease ends at
	// LeaseUntil unless it is renewed. Leased says whether it was running at Now, when
	// the row was read.
	Holder     gameid.Holder `db:"holder"`
	Place      string        `db:"place"`
	LeaseUntil time.Time
	Leased     bool

	// GoneInto is the database that the world was merged into, without secrets; empty if it was not. No copy of it
	// starts.
	GoneInto string `db:"gone_into"`

	// When the server was claimed, when it was bound, when its world reported last,
	// and when the row was read. All times are by the clock of the fleet registry.
	// The time of an event that never happened is zero.
	ClaimedAt, BoundAt, SeenAt, Now time.Time
}

// alive reports whether a process has the lease and is not known to have
// ended.
func (s *Server) alive() bool { return s.Leased && !s.Holder.Ended() }

// reach is up to when the world may have used times, as far as the fleet
// registry can tell: after its last report it may have run on until now, as far
// ahead of the clock as it was then.
func (s *Server) reach() int64 {
	ahead := max(0, gameid.TimeOf(s.Mark).Sub(s.SeenAt))
	now, err := gameid.MillisOf(s.Now.Add(ahead))
	if err != nil {
		return s.Mark // a clock of that database is far off
	}
	return max(s.Mark, now)
}

// Change is one entry in the history of a server.
type Change struct {
	Server gameid.ServerID
	Epoch  int64 `db:"epoch"` // of the row, from the change on
	At     time.Time
	Action string `db:"action"` // "claim", "bind", "retire", "rebind", "move", "gone", "back", "lower mark" or "release"
	World  string `db:"world"`  // that the server was bound to from then on, or empty
	By     string `db:"who"`
	Why    string `db:"why"`
}

const selectFleet = `
	SELECT server_id, name, state, COALESCE(world, '') AS world, epoch, world_epoch, mark_ms,
		holder, place, gone_into, lease_until_ms, claimed_ms, bound_ms, seen_ms, {now} AS now_ms
	FROM fleet_servers`

// fleetRow has the times of a Server as the database has them.
type fleetRow struct {
	Server
	Lease   int64 `db:"lease_until_ms"`
	Claimed int64 `db:"claimed_ms"`
	Bound   int64 `db:"bound_ms"`
	Seen    int64 `db:"seen_ms"`
	Read    int64 `db:"now_ms"`
}

// List returns all servers that were ever claimed, in their order.
func (f *Fleet) List(ctx context.Context) ([]Server, error) {
	return f.find(ctx, " ORDER BY server_id")
}

// Show returns one server and its history, oldest first. It returns
// [ErrNotClaimed] if the server was never claimed.
func (f *Fleet) Show(ctx context.Context, server gameid.ServerID) (Server, []Change, error) {
	found, err := f.load(ctx, server)
	if err != nil {
		return Server{}, nil, err
	}
	if found == nil {
		return Server{}, nil, f.notClaimed(server, "", "-server "+server.String())
	}
	var rows []struct {
		Change
		Ms int64 `db:"at_ms"`
	}
	err = f.db.Select(ctx, &rows, `
		SELECT epoch, at_ms, action, COALESCE(world, '') AS world, who, why
		FROM fleet_history WHERE server_id = ? ORDER BY epoch`, server)
	if err != nil {
		return Server{}, nil, f.fault(err)
	}
	var history []Change
	for _, row := range rows {
		row.Server, row.At = server, sqldb.UnixMilli(row.Ms)
		history = append(history, row.Change)
	}
	return *found, history, nil
}

func (f *Fleet) find(ctx context.Context, where string, args ...any) ([]Server, error) {
	if _, err := f.Identity(ctx); err != nil {
		return nil, err
	}
	var rows []fleetRow
	if err := f.db.Select(ctx, &rows, f.db.Dialect().With(selectFleet+where), args...); err != nil {
		return nil, f.fault(err)
	}
	var servers []Server
	for _, row := range rows {
		s := row.Server
		s.Leased = !s.Holder.IsZero() && row.Read < row.Lease
		s.LeaseUntil, s.Now = sqldb.UnixMilli(row.Lease), sqldb.UnixMilli(row.Read)
		s.ClaimedAt, s.BoundAt = sqldb.UnixMilli(row.Claimed), sqldb.UnixMilli(row.Bound)
		s.SeenAt = sqldb.UnixMilli(row.Seen)
		servers = append(servers, s)
	}
	return servers, nil
}

// load returns the row of a server, or nil if it was never claimed.
func (f *Fleet) load(ctx context.Context, server gameid.ServerID) (*Server, error) {
	if err := server.Validate(); err != nil {
		return nil, err
	}
	found, err := f.find(ctx, " WHERE server_id = ?", server)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
