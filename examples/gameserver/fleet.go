package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"mergesafe/gameid"
	"mergesafe/internal/config"
	"mergesafe/store"
)

// openNode starts the node of the server: with the consent of the fleet
// registry, if the configuration names one.
func (p *process) openNode(ctx context.Context, cfg *config.Config, env func(string) (string, bool), options gameid.Options) error {
	dsn, err := cfg.Registry.DSN(env)
	if err != nil {
		return err
	}
	if dsn.IsZero() {
		p.node, err = p.db.OpenNode(ctx, cfg.Server.Number, options)
		return err
	}
	if p.fleet, err = store.OpenFleet(dsn.Reveal()); err != nil {
		return err
	}
	p.member, err = p.db.JoinFleet(ctx, p.fleet, cfg.Server.Number, options, store.FleetOptions{
		Name:     cfg.Server.Name,
		OnChange: func(s store.FleetStatus) { logFleet(p.log, s) },
	})
	if err != nil {
		return err
	}
	p.node = p.member.Node
	return nil
}

// logFleet reports a change. The game goes on while the fleet registry is away,
// but somebody should know.
func logFleet(log *slog.Logger, s store.FleetStatus) {
	level := slog.LevelInfo
	if s.Err != nil {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "fleet registry", "state", s.State, "older_copy", s.OlderCopy, "err", s.Err)
}

// fleetCollector shows how the world stands with the fleet registry.
type fleetCollector struct {
	status                      func() store.FleetStatus
	state, heartbeats, failures *prometheus.Desc
}

func newFleetCollector(status func() store.FleetStatus) *fleetCollector {
	return &fleetCollector{
		status: status,
		state: prometheus.NewDesc("fleet_state",
			"1 for the state that this world is in at the fleet registry, 0 for the others. All but joined need attention.", []string{"state"}, nil),
		heartbeats: prometheus.NewDesc("fleet_heartbeats_total", "Reports to the fleet registry.", nil, nil),
		failures:   prometheus.NewDesc("fleet_heartbeat_failures_total", "Reports to the fleet registry that failed; each is repeated.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *fleetCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- c.state
	descs <- c.heartbeats
	descs <- c.failures
}

// Collect implements prometheus.Collector.
func (c *fleetCollector) Collect(metrics chan<- prometheus.Metric) {
	s := c.status()
	for _, state := range []store.FleetState{store.FleetJoined, store.FleetAway, store.FleetConflict, store.FleetLeft} {
		metrics <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, boolean(s.State == state), string(state))
	}
	metrics <- prometheus.MustNewConstMetric(c.heartbeats, prometheus.CounterValue, float64(s.Heartbeats))
	metrics <- prometheus.MustNewConstMetric(c.failures, prometheus.CounterValue, float64(s.Failures))
}
