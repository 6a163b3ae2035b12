package worldregistry

import (
	"context"
	"database/sql"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// Unguarded is a registry on a pool whose answers the test writes: it sets no
// settings there.
func Unguarded(pool *sql.DB, d sqldb.Dialect) *Registry { return &Registry{db: sqldb.Wrap(pool, d)} }

// FloorFor is the floor with which a node of a server begins.
func (r *Registry) FloorFor(ctx context.Context, server gameid.ServerID, o NodeOptions) (int64, error) {
	rec, err := r.load(ctx, server)
	if err != nil {
		return 0, err
	}
	return r.floorAt(ctx, server, rec, o)
}

// AcceptLossy is what a node with AcceptLossyDatabase does.
func (r *Registry) AcceptLossy() { r.db.AcceptLossy() }

// RereadNow makes the next reservation read the settings of the database again.
func (r *Registry) RereadNow() {
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	r.lossy.next = r.lossy.next.Add(-rereadSettings)
}

const insertMerged = `
	INSERT INTO ` + Table + ` (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms)
	VALUES (?, ?, ?, '` + RoleMerged + `', ?, ?, '', 0, {now}, {now})`

// Tx is a transaction, or a pool.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// AddMerged lists servers whose rows came to this database by a merge, as that writes the registry of a new
// database. A server or a world that is listed already is store.ErrDuplicate.
func (r *Registry) AddMerged(ctx context.Context, tx Tx, servers ...Server) error {
	for _, m := range servers {
		if err := m.ID.Validate(); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, r.db.Dialect().Native(r.db.Dialect().With(insertMerged)), m.ID, m.Name, m.World, max(m.Epoch, 1), m.Reserved); err != nil {
			return fmt.Errorf("listing server %s as merged: %w", m.ID, r.db.Fault("statement", err))
		}
	}
	return nil
}
