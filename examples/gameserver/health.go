package main

import (
	"context"
	"net/http"

	"mergesafe/gameid"
)

// health answers GET /healthz: 200 if the node may mint and the database
// answers, else 503. The body says which of them does not.
func (s *server) health(r *http.Request) (reply, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	out := reply{status: http.StatusOK}
	status, database := "ok", "ok"
	lease := s.node.Stats().Lease
	if lease != gameid.LeaseHeld {
		status, out.status = "unavailable", http.StatusServiceUnavailable
	}
	if err := s.db.Ping(ctx); err != nil {
		s.log.Warn("health: the database does not answer", "err", err)
		status, database, out.status = "unavailable", "unavailable", http.StatusServiceUnavailable
	}
	out.body = map[string]any{"status": status, "node": lease, "database": database}
	return out, nil
}
