package worldregistry

import (
	"context"
	"database/sql"

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
