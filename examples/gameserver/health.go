package main

import (
	"context"
	"errors"
	"net/http"
	"slices"

	nodemetrics "mergesafe/gameid/metrics"
	"mergesafe/store"
)

// health answers GET /healthz: 200 if the node may mint and the database
// answers, else 503. The body says which of them does not, and whether there is
// a key for public IDs: without one the server is well, and of use to operators
// only. It says if the file of the database is gone. Settings with which the database
// may lose confirmed changes are shown, and are no reason to stop.
func (s *server) health(r *http.Request) (reply, error) {
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	out := reply{status: http.StatusOK}
	status, database, public := "ok", "ok", "ok"
	if s.public == nil {
		status, public = "limited", "no key"
	}
	stats := s.node.Stats()
	lease := stats.Lease
	if nodemetrics.Health(stats) != nil {
		status, out.status = "unavailable", http.StatusServiceUnavailable
	}
	if err := s.db.Ping(ctx); err != nil {
		s.log.Warn("health: the database does not answer", "err", err)
		status, database, out.status = "unavailable", "unavailable", http.StatusServiceUnavailable
	}
	body := map[string]any{"status": status, "node": lease, "database": database, "public_ids": public}
	if errors.Is(s.node.Err(), store.ErrReplaced) {
		body["reason"] = "the file of the database: " + store.ErrReplaced.Error() // which one, the log says
	}
	if lossy := s.db.Registry().Warnings(); len(lossy) > 0 {
		var warnings []string
		for _, l := range lossy {
			warnings = append(warnings, l.String())
		}
		body["database_may_lose"] = warnings
	}
	out.body = body
	return out, nil
}

// warnLossy logs the settings with which the database may lose what it
// confirmed, once after each change.
func (p *process) warnLossy() {
	lossy := p.db.Registry().Warnings()
	for _, l := range lossy {
		if !slices.Contains(p.lossy, l) {
			p.log.Warn("the database may lose confirmed changes", "variable", l.Variable, "value", l.Value, "risk", l.Risk, "mend", l.Mend)
		}
	}
	if len(lossy) == 0 && len(p.lossy) > 0 {
		p.log.Info("the database keeps what it confirms")
	}
	p.lossy = lossy
}
