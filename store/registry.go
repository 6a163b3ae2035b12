package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"mergesafe/gameid"
)

// RegistryTable is the table of the [Registry]. It is no data of the game.
const RegistryTable = "gameid_servers"

// The roles of a server in a database.
const (
	RoleOwn    = "own"    // its process writes, or wrote, to this database
	RoleMerged = "merged" // its rows came here by a merge
)

// Server is one row of the registry: a server whose IDs may be in the
// database.
type Server struct {
	ID   gameid.ServerID
	Name string // for people, may be empty

	// World is a random identity, 32 hexadecimal digits, that was made with
	// the row. Two databases that both have a server 7 have the same game
	// world, or copies of it, only if this is the same too.
	World string

	Role string // RoleOwn or RoleMerged

	// Reserved is the mark: no ID of this server in this database has a later
	// time, in milliseconds since gameid.EpochMillis.
	Reserved int64

	// Holder has, or had last, the lease, which ends at LeaseUntil. Leased
	// tells whether it was running when the row was read. All of this is by
	// the clock of the database.
	Holder     gameid.Holder
	LeaseUntil time.Time
	Leased     bool

	Epoch                int64 // counts the changes
	CreatedAt, UpdatedAt time.Time
}

// Registry is the table in which a database keeps, for every server whose IDs
// may be in it, up to which time they are reserved and who holds the lease. It
// implements [gameid.Reserver]. Any number of goroutines may use it.
//
// It relies on commits being durable: SQLite is opened so by [Open], and a
// server of MySQL must run with innodb_flush_log_at_trx_commit=1, which is its
// default, or be a cluster.
type Registry struct{ db *DB }

var _ gameid.Reserver = (*Registry)(nil)

// Registry returns the registry of the database. Its tables must exist.
func (db *DB) Registry() *Registry { return &Registry{db} }

// OpenNode starts the node of a server on the registry of this database: see
// [gameid.OpenNode], whose errors it returns, or a [*SchemaError]. Close the
// node before the database.
//
// A world that was bound in a fleet registry does not start without it: that is
// [ErrBound]. Start it with [DB.JoinFleet], or see [DB.LeaveFleet].
func (db *DB) OpenNode(ctx context.Context, server gameid.ServerID, options gameid.Options) (*gameid.Node, error) {
	if err := db.CheckSchema(ctx); err != nil {
		return nil, err
	}
	own, err := db.serverOf(ctx, server)
	if err != nil {
		return nil, err
	}
	if own.Fleet != "" {
		return nil, &FleetError{Server: server, kind: ErrBound, reason: fmt.Sprintf(
			"with the database %q is bound in a fleet registry (identity %s), and does not start without it: give its DSN, in config.toml in [registry]; "+
				"if the world is to leave that fleet for good, see: gameid servers leave -h", db.place(), own.Fleet)}
	}
	node, err := gameid.OpenNode(ctx, server, db.Registry(), options)
	if err != nil {
		return nil, db.explainRefusal(server, options, err)
	}
	return node, nil
}

// The clock of the database, in milliseconds of Unix time. It is the same
// throughout one statement.
const (
	mysqlNow  = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"
	sqliteNow = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
)

// with puts the database's clock into a query, in the place of {now}.
func (db *DB) with(query string) string {
	now := sqliteNow
	if db.dialect == MySQL {
		now = mysqlNow
	}
	return strings.ReplaceAll(query, "{now}", "("+now+")")
}

const loadServer = `
	SELECT COALESCE(s.epoch, 0) AS epoch, COALESCE(s.reserved_ms, 0) AS reserved_ms,
		COALESCE(s.holder, '') AS holder, COALESCE(s.lease_until_ms, 0) AS lease_until_ms, {now} AS now_ms
	FROM (SELECT ? AS id) AS asked LEFT JOIN ` + RegistryTable + ` AS s ON s.server_id = asked.id`

// Load implements [gameid.Reserver].
//
// Floor is the time of the largest ID of the server among the keys of all
// tables, those of the game included. Where IDs of other servers are later,
// but not in the future, it may be the time of the latest of them: that costs
// one look into an index, and a floor in the past does no harm.
func (r *Registry) Load(ctx context.Context, server gameid.ServerID) (gameid.Record, error) {
	what := fmt.Sprintf("registry of server %s", server)
	var row struct {
		Epoch      int64  `db:"epoch"`
		Reserved   int64  `db:"reserved_ms"`
		Holder     string `db:"holder"`
		LeaseUntil int64  `db:"lease_until_ms"`
		Now        int64  `db:"now_ms"`
	}
	if err := r.db.fault(what, r.db.registry.GetContext(ctx, &row, r.db.with(loadServer), server)); err != nil {
		return gameid.Record{}, err
	}
	holder, err := decodeHolder(row.Holder)
	if err != nil {
		return gameid.Record{}, &opError{what, err}
	}
	rec := gameid.Record{
		Epoch:      row.Epoch,
		Reserved:   row.Reserved,
		Holder:     holder,
		LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(),
		Now:        time.UnixMilli(row.Now).UTC(),
	}
	if rec.Floor, err = r.floor(ctx, server, rec.Reserved, row.Now-gameid.EpochMillis); err != nil {
		return gameid.Record{}, r.db.fault(what+": largest ID", err)
	}
	return rec, nil
}

const (
	insertServer = `
		INSERT INTO ` + RegistryTable + ` (server_id, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms)
		VALUES (?, ?, '` + RoleOwn + `', 1, ?, ?, {now} + ?, {now}, {now})`
	updateServer = `
		UPDATE ` + RegistryTable + `
		SET epoch = epoch + 1, reserved_ms = ?, holder = ?, lease_until_ms = {now} + ?, updated_ms = {now}
		WHERE server_id = ? AND epoch = ? AND ` + heldBy
)

// CompareAndSet implements [gameid.Reserver].
func (r *Registry) CompareAndSet(ctx context.Context, server gameid.ServerID, row gameid.Record, c gameid.Claim) (bool, error) {
	what := fmt.Sprintf("registry of server %s: reserve", server)
	if r.db.readOnly {
		return false, &opError{what, ErrReadOnly}
	}
	holder, err := encodeHolder(c.Holder)
	if err != nil {
		return false, &opError{what, err}
	}
	query := r.db.with(updateServer)
	args := append([]any{c.Reserved, holder, c.Lease.Milliseconds(), server, row.Epoch}, heldByArgs(row.Holder)...)
	if row.Epoch == 0 {
		query = r.db.with(insertServer)
		args = []any{server, newWorld(), c.Reserved, holder, c.Lease.Milliseconds()}
	}
	var n int64
	err = Retry(ctx, func() error {
		// The epoch makes every update a change, so that all databases mean
		// the same by the number of rows affected.
		result, err := r.db.registry.ExecContext(ctx, query, args...)
		if err == nil {
			n, err = result.RowsAffected()
		}
		return r.db.fault(what, r.db.lockFault(err))
	})
	switch {
	case row.Epoch == 0 && errors.Is(err, ErrDuplicate):
		return false, nil
	case err != nil:
		return false, err
	case n > 1:
		return false, fmt.Errorf("store: %s: the database says that it changed %d rows, want at most 1", what, n)
	}
	return n == 1, nil
}

// Servers returns every server whose IDs may be in the database, by number.
func (r *Registry) Servers(ctx context.Context) ([]Server, error) {
	const query = `
		SELECT server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, {now} AS now_ms
		FROM ` + RegistryTable + ` ORDER BY server_id`
	var rows []struct {
		ID         gameid.ServerID `db:"server_id"`
		Name       string          `db:"name"`
		World      string          `db:"world"`
		Role       string          `db:"role"`
		Epoch      int64           `db:"epoch"`
		Reserved   int64           `db:"reserved_ms"`
		Holder     string          `db:"holder"`
		LeaseUntil int64           `db:"lease_until_ms"`
		Created    int64           `db:"created_ms"`
		Updated    int64           `db:"updated_ms"`
		Now        int64           `db:"now_ms"`
	}
	if err := r.db.Select(ctx, &rows, r.db.with(query)); err != nil {
		return nil, err
	}
	var servers []Server
	for _, row := range rows {
		holder, err := decodeHolder(row.Holder)
		if err != nil {
			return nil, fmt.Errorf("store: registry of server %s: %w", row.ID, err)
		}
		servers = append(servers, Server{
			ID: row.ID, Name: row.Name, World: row.World, Role: row.Role,
			Reserved:   row.Reserved,
			Holder:     holder,
			LeaseUntil: time.UnixMilli(row.LeaseUntil).UTC(),
			Leased:     !holder.IsZero() && row.Now < row.LeaseUntil,
			Epoch:      row.Epoch,
			CreatedAt:  time.UnixMilli(row.Created).UTC(),
			UpdatedAt:  time.UnixMilli(row.Updated).UTC(),
		})
	}
	return servers, nil
}

// SetName gives a server a name of at most 64 characters, for people to read.
// The server must be in the registry: a node has been opened, or its rows were
// merged in. Otherwise it returns [ErrNotFound].
func (r *Registry) SetName(ctx context.Context, server gameid.ServerID, name string) error {
	what := fmt.Sprintf("name of server %s", server)
	result, err := r.db.exec(ctx, seldom, what, "UPDATE "+RegistryTable+" SET name = ? WHERE server_id = ?", name, server)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return r.db.fault(what, err)
}

// A holder is JSON in its column, and nobody is empty.

func encodeHolder(h gameid.Holder) (string, error) {
	if h.IsZero() {
		return "", nil
	}
	b, err := json.Marshal(h)
	return string(b), err
}

func decodeHolder(s string) (h gameid.Holder, err error) {
	if s == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(s), &h); err != nil {
		return h, fmt.Errorf("the holder %.80q is not readable: %w", s, err)
	}
	return h, nil
}

// heldBy is the condition that a row has a holder of a certain token, or
// nobody; heldByArgs are its arguments. The token is the first field of the
// JSON: programs of other versions may write other fields after it.
const heldBy = "SUBSTR(holder, 1, ?) = ?"

func heldByArgs(h gameid.Holder) []any {
	if h.IsZero() {
		return []any{1, ""}
	}
	token, err := json.Marshal(h.Token)
	if err != nil {
		panic(err) // a string always has its JSON
	}
	prefix := `{"token":` + string(token)
	return []any{utf8.RuneCountInString(prefix), prefix}
}

// newWorld makes the identity of a world: 128 random bits.
func newWorld() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
