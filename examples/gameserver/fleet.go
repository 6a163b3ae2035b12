package main

import (
	"context"
	"log/slog"

	nodemetrics "mergesafe/gameid/metrics"
	"mergesafe/internal/config"
	"mergesafe/store"
	"mergesafe/store/fleet"
)

// openNode starts the node of the server, or of any free number of its range:
// with the consent of the fleet registry, if the configuration names one.
func (p *process) openNode(ctx context.Context, cfg *config.Config, env func(string) (string, bool), options store.NodeOptions) error {
	dsn, err := cfg.Registry.DSN(env)
	if err != nil {
		return err
	}
	number, numbers := cfg.Server.Number, store.NumberRange(cfg.Server.Numbers)
	ranged := !number.IsValid()
	if dsn.IsZero() {
		if ranged {
			p.node, err = p.db.OpenFreeNode(ctx, numbers, options)
		} else {
			p.node, err = p.db.OpenNode(ctx, number, options)
		}
		return err
	}
	if p.fleet, err = fleet.Open(dsn.Reveal()); err != nil {
		return err
	}
	member := fleet.Options{Name: cfg.Server.Name, OnChange: func(s fleet.Status) { logFleet(p.log, s) }}
	if ranged {
		p.member, err = p.fleet.JoinFree(ctx, p.db.Registry(), numbers, options, member)
	} else {
		p.member, err = p.fleet.Join(ctx, p.db.Registry(), number, options, member)
	}
	if err != nil {
		return err
	}
	p.node = p.member.Node
	return nil
}

// logFleet reports a change. The game continues while the fleet registry is away,
// but somebody should know.
func logFleet(log *slog.Logger, s fleet.Status) {
	level := slog.LevelInfo
	if s.Err != nil {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "fleet registry", "state", s.State, "older_copy", s.OlderCopy, "err", s.Err)
}

// fleetMetrics shows how the world stands with the fleet registry.
func fleetMetrics(s fleet.Status) []nodemetrics.Metric {
	var states []nodemetrics.Sample
	for _, state := range []fleet.State{fleet.Joined, fleet.Away, fleet.Conflict, fleet.Left} {
		states = append(states, nodemetrics.Sample{Label: string(state), Value: float64(boolean(s.State == state))})
	}
	return []nodemetrics.Metric{
		{
			Name: "fleet_state", Label: "state", Samples: states,
			Help: "1 for the state that this world is in at the fleet registry, 0 for the others. " +
				"All but joined need attention.",
		},
		counter("fleet_heartbeats_total", "Reports to the fleet registry.", s.Heartbeats),
		counter("fleet_heartbeat_failures_total", "Reports to the fleet registry that failed; each is repeated.", s.Failures),
	}
}
