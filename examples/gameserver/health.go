package main

import (
	"context"
	"net/http"

	"mergesafe/gameid"
)

// health answers GET /healthz: 200 if the node may mint and the database
// answers, else 503. The body says which of them does not, and whether there is
// a key for public IDs: without one the server is well, and of use to operators
// only.
func (s *server) health(r *http.Request) (reply, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	out := reply{status: http.StatusOK}
	status, database, public := "ok", "ok", "ok"
	if s.public == nil {
		status, public = "limited", "no key"
	}
	lease := s.node.Stats().Lease
	if lease != gameid.LeaseHeld {
		status, out.status = "unavailable", http.StatusServiceUnavailable
	}
	if err := s.db.Ping(ctx); err != nil {
		s.log.Warn("health: the database does not answer", "err", err)
		status, database, out.status = "unavailable", "unavailable", http.StatusServiceUnavailable
	}
	out.body = map[string]any{"status": status, "node": lease, "database": database, "public_ids": public}
	return out, nil
}
