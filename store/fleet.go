package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"mergesafe/gameid"
)

// FleetVersion is the version of the tables of a fleet registry.
const FleetVersion = 1

var (
	//go:embed schema/fleet_mysql.sql
	mysqlFleetSchema string
	//go:embed schema/fleet_sqlite.sql
	sqliteFleetSchema string
)

var fleetSchema = &schema{
	application: "mergesafe-fleet",
	version:     FleetVersion,
	owner:       "a fleet registry",
	absent:      `the database has no fleet registry yet: make it with "gameid servers init", or check that it is the right one`,
	unfinished:  `run "gameid servers init" once more`,
	tables:      []string{"fleet_registry", "fleet_servers", "fleet_history"},
	sql:         map[Dialect][]string{MySQL: {mysqlFleetSchema}, SQLite: {sqliteFleetSchema}},
	fill:        nameFleet,
}

// Fleet is the fleet registry: one database, shared by all worlds, that binds
// each server number to one world for good. A game's own [Registry] makes its
// IDs unique; what it cannot see is another database that uses the same
// number. The fleet registry sees that, and also a second live copy of one
// world, such as a cloned disk or a restored backup.
//
// A number is first claimed ([Fleet.Claim]), then bound to the first world
// that starts with it ([DB.JoinFleet]), and perhaps retired one day
// ([Fleet.Retire]). It is never given to another world, unless somebody
// overrides that and says why ([Fleet.Rebind]).
//
// Any number of goroutines may use a Fleet.
type Fleet struct {
	db   *DB
	path string // of an SQLite file

	mu sync.Mutex
	id string // see identity
}

// OpenFleet opens the fleet registry that dsn names, in the form of [Open].
// It connects when it is first used, so that a world can start while the fleet
// registry is away: an error is about the DSN. The caller closes it.
//
// Its connections to MySQL are closed after each use: thousands of game
// servers that call twice a minute share one database.
func OpenFleet(dsn string) (*Fleet, error) {
	db, err := prepare(dsn, false)
	if err != nil {
		return nil, err
	}
	return newFleet(db, dsn), nil
}

func newFleet(db *DB, dsn string) *Fleet {
	f := &Fleet{db: db}
	if db.dialect == MySQL {
		db.pool.SetMaxIdleConns(0)
	} else {
		_, f.path, _ = splitDSN(dsn)
	}
	return f
}

// Close closes the connections. Close the members before.
func (f *Fleet) Close() error { return f.db.Close() }

// String returns the DSN without what is secret.
func (f *Fleet) String() string { return f.db.String() }

// GoString is [Fleet.String] for %#v.
func (f *Fleet) GoString() string { return fmt.Sprintf("store.Fleet(%q)", f.db.name) }

// CreateSchema makes the tables of a fleet registry, unless they are there. It
// refuses the database of a game or of another program with a [*SchemaError].
//
// It is done once, by hand: two fleet registries would give out the same
// numbers, so none may come to be by a typing error.
func (f *Fleet) CreateSchema(ctx context.Context) error {
	err := f.db.connect(ctx)
	if err == nil {
		err = fleetSchema.create(ctx, f.db)
	}
	if err == nil {
		err = createFleetNumbers(ctx, f.db)
	}
	return f.fault(explain(err))
}

// nameFleet gives a new fleet registry its identity.
func nameFleet(ctx context.Context, s Session) error {
	_, err := s.Exec(ctx, s.of().db.with("INSERT INTO fleet_registry (one, id, created_ms) VALUES (1, ?, {now})"), newWorld())
	if errors.Is(err, ErrDuplicate) {
		return nil
	}
	return err
}

// identity returns the random identity of this fleet registry, 32 hexadecimal
// digits. When it is first asked it makes sure that the tables are those of a
// fleet registry.
func (f *Fleet) identity(ctx context.Context) (string, error) {
	f.mu.Lock()
	id := f.id
	f.mu.Unlock()
	if id != "" {
		return id, nil
	}
	if f.path != "" { // SQLite would make the file
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			return "", f.fault(fmt.Errorf(`no such file: make the fleet registry with "gameid servers init", or check the path: %w`, ErrUnavailable))
		}
	}
	if err := f.db.connect(ctx); err != nil {
		return "", f.fault(explain(err))
	}
	if err := fleetSchema.check(ctx, f.db); err != nil {
		return "", f.fault(err)
	}
	if err := f.db.Get(ctx, &id, "SELECT id FROM fleet_registry"); err != nil {
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

// The states of a server number.
const (
	FleetClaimed = "claimed" // taken, and not yet used by any world
	FleetBound   = "bound"   // belongs to one world
	FleetRetired = "retired" // belonged to a world, and to nobody any more
)

// FleetServer is what the fleet registry knows of one server number.
type FleetServer struct {
	ID    gameid.ServerID
	Name  string // for people; no two numbers have the same
	State string // FleetClaimed, FleetBound or FleetRetired

	// World is the identity of the world (see [Server]); empty until it is
	// bound.
	World string

	// Epoch counts the changes of this row.
	Epoch int64

	// WorldEpoch and Mark are what the world reported last of its own
	// registry: how often that had changed, and up to which time it had
	// reserved IDs, in milliseconds since gameid.EpochMillis. A database of
	// the world that has seen fewer changes is an older copy.
	WorldEpoch, Mark int64

	// Holder is the process that has the lease, or had it last, and Place the
	// database that it uses, without what is secret, as the process names it.
	// The lease ends at LeaseUntil unless it is renewed. Leased tells whether
	// it was running at Now, when the row was read.
	Holder     gameid.Holder
	Place      string
	LeaseUntil time.Time
	Leased     bool

	// When the number was claimed and bound, when its world was last heard of,
	// and when this was read. All times are by the clock of the fleet
	// registry, and zero where it never happened.
	ClaimedAt, BoundAt, SeenAt, Now time.Time
}

// alive reports whether a process has the lease and is not known to have
// ended.
func (s *FleetServer) alive() bool { return s.Leased && !s.Holder.Ended() }

// reach is up to when the world may have used times, as far as the fleet
// registry can tell: after its last report it may have run on until now, as far
// ahead of the clock as it was then.
func (s *FleetServer) reach() int64 {
	ahead := max(0, gameid.TimeOf(s.Mark).Sub(s.SeenAt))
	now, err := gameid.MillisOf(s.Now.Add(ahead))
	if err != nil {
		return s.Mark // a clock of that database is far off
	}
	return max(s.Mark, now)
}

// FleetChange is one entry in the history of a number.
type FleetChange struct {
	Server  gameid.ServerID
	Epoch   int64 // of the row, from the change on
	At      time.Time
	Action  string // "claim", "bind", "retire", "rebind", "lower mark" or "release"
	World   string // that the number was bound to from then on, or empty
	By, Why string
}

const selectFleet = `
	SELECT server_id, name, state, COALESCE(world, '') AS world, epoch, world_epoch, mark_ms,
		holder, place, lease_until_ms, claimed_ms, bound_ms, seen_ms, {now} AS now_ms
	FROM fleet_servers`

type fleetRow struct {
	ID         gameid.ServerID `db:"server_id"`
	Name       string          `db:"name"`
	State      string          `db:"state"`
	World      string          `db:"world"`
	Epoch      int64           `db:"epoch"`
	WorldEpoch int64           `db:"world_epoch"`
	Mark       int64           `db:"mark_ms"`
	Holder     string          `db:"holder"`
	Place      string          `db:"place"`
	LeaseUntil int64           `db:"lease_until_ms"`
	Claimed    int64           `db:"claimed_ms"`
	Bound      int64           `db:"bound_ms"`
	Seen       int64           `db:"seen_ms"`
	Now        int64           `db:"now_ms"`
}

func (row fleetRow) server() (FleetServer, error) {
	holder, err := decodeHolder(row.Holder)
	if err != nil {
		return FleetServer{}, fmt.Errorf("server %s: %w", row.ID, err)
	}
	return FleetServer{
		ID: row.ID, Name: row.Name, State: row.State, World: row.World,
		Epoch: row.Epoch, WorldEpoch: row.WorldEpoch, Mark: row.Mark,
		Holder:     holder,
		Place:      row.Place,
		LeaseUntil: unixTime(row.LeaseUntil),
		Leased:     !holder.IsZero() && row.Now < row.LeaseUntil,
		ClaimedAt:  unixTime(row.Claimed),
		BoundAt:    unixTime(row.Bound),
		SeenAt:     unixTime(row.Seen),
		Now:        unixTime(row.Now),
	}, nil
}

func unixTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// List returns all numbers that were ever claimed, in their order.
func (f *Fleet) List(ctx context.Context) ([]FleetServer, error) {
	return f.find(ctx, " ORDER BY server_id")
}

// Show returns one number and its history, oldest first. A number that was
// never claimed is [ErrNotClaimed].
func (f *Fleet) Show(ctx context.Context, server gameid.ServerID) (FleetServer, []FleetChange, error) {
	found, err := f.load(ctx, server)
	if err != nil {
		return FleetServer{}, nil, err
	}
	if found == nil {
		return FleetServer{}, nil, f.notClaimed(server, "")
	}
	var rows []struct {
		Epoch  int64  `db:"epoch"`
		At     int64  `db:"at_ms"`
		Action string `db:"action"`
		World  string `db:"world"`
		Who    string `db:"who"`
		Why    string `db:"why"`
	}
	err = f.db.Select(ctx, &rows, `
		SELECT epoch, at_ms, action, COALESCE(world, '') AS world, who, why
		FROM fleet_history WHERE server_id = ? ORDER BY epoch`, server)
	if err != nil {
		return FleetServer{}, nil, f.fault(err)
	}
	var history []FleetChange
	for _, row := range rows {
		history = append(history, FleetChange{server, row.Epoch, unixTime(row.At), row.Action, row.World, row.Who, row.Why})
	}
	return *found, history, nil
}

func (f *Fleet) find(ctx context.Context, where string, args ...any) ([]FleetServer, error) {
	if _, err := f.identity(ctx); err != nil {
		return nil, err
	}
	var rows []fleetRow
	if err := f.db.Select(ctx, &rows, f.db.with(selectFleet+where), args...); err != nil {
		return nil, f.fault(err)
	}
	var servers []FleetServer
	for _, row := range rows {
		s, err := row.server()
		if err != nil {
			return nil, f.fault(err)
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// load returns the row of a number, or nil if it was never claimed.
func (f *Fleet) load(ctx context.Context, server gameid.ServerID) (*FleetServer, error) {
	if err := server.Validate(); err != nil {
		return nil, err
	}
	found, err := f.find(ctx, " WHERE server_id = ?", server)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
