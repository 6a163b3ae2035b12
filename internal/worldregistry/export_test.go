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

// AcceptLossy is what a node with AcceptLossyDatabase does.
func (r *Registry) AcceptLossy() { r.db.AcceptLossy() }

// HoldAfter gives a server another holder. between runs when its row was read.
func (r *Registry) HoldAfter(ctx context.Context, server gameid.ServerID, holder gameid.Holder, between func(*Server) bool) error {
	return r.hold(ctx, server, holder, FenceLease, func(s *Server) (bool, error) { return between(s), nil })
}

// RereadNow makes the next reservation read the settings of the database again.
func (r *Registry) RereadNow() {
	r.lossy.mu.Lock()
	defer r.lossy.mu.Unlock()
	r.lossy.next = r.lossy.next.Add(-rereadSettings)
}
