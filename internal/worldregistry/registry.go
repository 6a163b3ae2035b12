package worldregistry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// Table is the table of the [Registry]. It has no data of the game.
const Table = sqldb.RegistryTable

// The roles of a server in a database.
const (
	RoleOwn    = "own"    // its process writes, or wrote, to this database
	RoleMerged = "merged" // its rows came here by a merge
)

// Server is one row of the registry, of which package store/registry shows a game a part.
type Server struct {
	ID    gameid.ServerID `db:"server_id"`
	Name  string          `db:"name"`
	World string          `db:"world"` // empty if there is no row
	Role  string          `db:"role"`  // RoleOwn or RoleMerged

	// Reserved is the mark: no ID of this server in this database has a later
	// time, in milliseconds since gameid.EpochMillis.
	Reserved int64 `db:"reserved_ms"`

	Holder     gameid.Holder `db:"holder"`
	LeaseUntil time.Time
	Leased     bool // when the row was read

	Epoch int64 `db:"epoch"` // counts the changes

	// Fleet is the identity of the fleet registry that the world is bound in, or
	// empty.
	Fleet string `db:"fleet"`

	// When the row was made and changed last, and when it was read, by the clock of the database.
	CreatedAt, UpdatedAt, Now time.Time
}

// Record returns the epoch and the holder, which together identify the row.
func (s *Server) Record() gameid.Record { return gameid.Record{Epoch: s.Epoch, Holder: s.Holder} }

// Held returns the error that refuses a start of the server while another live
// process has the lease, or while it is fenced; nil if it is free.
func (s *Server) Held() error {
	if !s.Leased || s.Holder.Ended() {
		return nil
	}
	return Explain(&gameid.HeldError{Server: s.ID, Holder: s.Holder, LeaseUntil: s.LeaseUntil, Now: s.Now})
}

// Registry is that table. It implements [gameid.Reserver]. Any number of goroutines may use it.
// What it relies on is said in package store/registry, whose Registry converts to this one.
type Registry struct {
	db    *sqldb.DB
	lossy lossy
}

var _ gameid.Reserver = (*Registry)(nil)

// New returns the registry of a database. Its table must exist: see [Registry.Create].
func New(db *sqldb.DB) *Registry { return &Registry{db: db.Guarded()} }

// Dial opens the database that dsn names, in the forms of store.Open, and returns its registry. The caller
// closes it.
func Dial(ctx context.Context, dsn string, access sqldb.Access) (*Registry, error) {
	db, err := sqldb.Dial(ctx, dsn, access)
	if err != nil {
		return nil, err
	}
	return New(db), nil
}

// Close closes the pool.
func (r *Registry) Close() error { return r.db.Close() }

// Pool returns the pool that the registry works on.
func (r *Registry) Pool() *sql.DB { return r.db.Pool().DB }

// Dialect returns the kind of the database.
func (r *Registry) Dialect() sqldb.Dialect { return r.db.Dialect() }

// String names the database, without secrets.
func (r *Registry) String() string { return r.db.String() }

// Place names the database for people elsewhere: without secrets, and with the full
// path of a file.
func (r *Registry) Place() string { return r.db.Place() }

const loadServer = `
	SELECT COALESCE(s.epoch, 0) AS epoch, COALESCE(s.reserved_ms, 0) AS reserved_ms,
		COALESCE(s.window_ms, 0) AS window_ms, COALESCE(s.holder, '') AS holder, COALESCE(s.lease_until_ms, 0) AS lease_until_ms, {now} AS now_ms
	FROM (SELECT 0 + ? AS id) AS asked LEFT JOIN ` + Table + ` AS s ON s.server_id = asked.id`

// Load implements [gameid.Reserver].
func (r *Registry) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	what := fmt.Sprintf("registry of server %s", server)
	var row struct {
		Epoch      int64         `db:"epoch"`
		Reserved   int64         `db:"reserved_ms"`
		Window     int64         `db:"window_ms"`
		Holder     gameid.Holder `db:"holder"`
		LeaseUntil int64         `db:"lease_until_ms"`
		Now        int64         `db:"now_ms"`
	}
	if err := r.db.GetAs(ctx, what, &row, r.db.Dialect().With(loadServer), server); err != nil {
		return gameid.Record{}, gone(err)
	}
	return gameid.Record{
		Epoch:      row.Epoch,
		Reserved:   row.Reserved,
		Window:     time.Duration(row.Window) * time.Millisecond,
		Holder:     row.Holder,
		LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(),
		Now:        time.UnixMilli(row.Now).UTC(),
	}, nil
}

const (
	insertServer = `
		INSERT INTO ` + Table + ` (server_id, world, role, epoch, reserved_ms, window_ms, holder, lease_until_ms, created_ms, updated_ms)
		VALUES (?, ?, '` + RoleOwn + `', 1, ?, ?, ?, {now} + ?, {now}, {now})`
	updateServer = `
		UPDATE ` + Table + `
		SET epoch = epoch + 1, reserved_ms = ?, window_ms = CASE WHEN window_ms < ? THEN ? ELSE window_ms END, holder = ?, lease_until_ms = {now} + ?, updated_ms = {now}
		WHERE ` + unchanged

	// The row as it was read: if a registry is restored from an older copy, the same epoch is reached again,
	// under another holder.
	unchanged = "server_id = ? AND epoch = ? AND " + sqldb.HeldBy
)

// unchangedArgs returns the arguments of unchanged, behind others.
func unchangedArgs(server gameid.ServerID, row gameid.Record, others ...any) []any {
	return append(append(others, server, row.Epoch), sqldb.HeldByArgs(row.Holder.Token)...)
}

// CompareAndSet implements [gameid.Reserver]. The row keeps the largest window
// of all claims.
func (r *Registry) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	what := fmt.Sprintf("registry of server %s: reserve", server)
	query := updateServer
	window := (c.Window + time.Millisecond - 1).Milliseconds()
	args := unchangedArgs(server, row, c.Reserved, window, window, c.Holder, c.Lease.Milliseconds())
	if row.Epoch == 0 {
		query = insertServer
		args = []any{server, sqldb.NewIdentity(), c.Reserved, window, c.Holder, c.Lease.Milliseconds()}
	}
	query = r.db.Dialect().With(query)
	var n int64
	err := sqldb.Retry(ctx, func() error {
		return r.db.Change(ctx, what, func(tx *sqldb.Tx) error {
			// The epoch makes every update a change, so that all databases mean
			// the same by the number of rows affected.
			result, err := tx.ExecKind(ctx, sqldb.Seldom, what, query, args...)
			if err == nil {
				n, err = result.RowsAffected()
				err = tx.Fault(what, err)
			}
			if err == nil && n > 1 {
				err = fmt.Errorf("store: %s: the database says that it changed %d rows, want at most 1", what, n)
			}
			return err
		})
	})
	switch {
	case row.Epoch == 0 && errors.Is(err, sqldb.ErrDuplicate):
		return false, nil
	case err != nil:
		return false, gone(err)
	}
	r.reread(ctx)
	return n == 1, nil
}

// gone says of an error that the node must end, if two processes may reserve the same times:
// one in a file that was removed or replaced, and one in the file at its path.
func gone(err error) error {
	if errors.Is(err, sqldb.ErrReplaced) {
		return fmt.Errorf("%w: %w", gameid.ErrRegistryGone, err)
	}
	return err
}

// Servers returns every server whose IDs may be in the database, in their order.
func (r *Registry) Servers(ctx context.Context) ([]Server, error) {
	return r.find(ctx, " ORDER BY server_id")
}

// Server returns the row of one server. If there is no such row, it returns the zero
// Server, whose World is empty.
func (r *Registry) Server(ctx context.Context, server gameid.ServerID) (Server, error) {
	found, err := r.find(ctx, " WHERE server_id = ?", server)
	if err != nil || len(found) == 0 {
		return Server{ID: server}, err
	}
	return found[0], nil
}

func (r *Registry) find(ctx context.Context, where string, args ...any) ([]Server, error) {
	const query = `
		SELECT server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet, {now} AS now_ms
		FROM ` + Table
	var rows []struct {
		Server
		Lease   int64 `db:"lease_until_ms"`
		Created int64 `db:"created_ms"`
		Updated int64 `db:"updated_ms"`
		Read    int64 `db:"now_ms"`
	}
	if err := r.db.Select(ctx, &rows, r.db.Dialect().With(query+where), args...); err != nil {
		return nil, err
	}
	var servers []Server
	for _, row := range rows {
		s := row.Server
		s.Leased = !s.Holder.IsZero() && row.Read < row.Lease
		s.LeaseUntil, s.Now = time.UnixMilli(row.Lease).UTC(), time.UnixMilli(row.Read).UTC()
		s.CreatedAt, s.UpdatedAt = time.UnixMilli(row.Created).UTC(), time.UnixMilli(row.Updated).UTC()
		servers = append(servers, s)
	}
	return servers, nil
}

// SetName gives a server of the registry a name of at most 64 characters, for people to read.
func (r *Registry) SetName(ctx context.Context, server gameid.ServerID, name string) error {
	what := fmt.Sprintf("name of server %s", server)
	result, err := r.db.ExecKind(ctx, sqldb.Seldom, what, "UPDATE "+Table+" SET name = ? WHERE server_id = ?", name, server)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = sqldb.ErrNotFound
	}
	return r.db.Fault(what, err)
}
