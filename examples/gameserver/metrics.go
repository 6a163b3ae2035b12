package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mergesafe/gameid"
	"mergesafe/store"
)

// metrics is what Prometheus can ask of this process.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	inFlight prometheus.Gauge
	panics   prometheus.Counter
}

func newMetrics(db *store.DB, node *gameid.Node, public *publicIDs, name string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_requests_total",
			Help: "Requests answered, by route and status code. The route is empty where none fits.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_request_duration_seconds",
			Help: "Time from the header of a request to the end of its answer, by route.",
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_requests_in_flight",
			Help: "Requests being answered now, this one included.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "http_panics_total",
			Help: "Requests that ended in a panic: each is a bug, and logged with its stack.",
		}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "gameserver_info",
		Help:        "Always 1. The labels tell which server of the game this is.",
		ConstLabels: prometheus.Labels{"server": node.Server().String(), "name": name},
	})
	info.Set(1)
	key := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gameserver_public_id_key_version",
		Help: "Version of the key that seals public IDs. 0 if there is none: then players are refused.",
	})
	if public != nil {
		key.Set(float64(public.version))
	}
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, m.panics, info, key,
		newNodeCollector(node.Stats),
		collectors.NewDBStatsCollector(db.Pool().DB, "game"),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observe counts a request that was answered. The route is the pattern that
// fitted: a path would make as many time series as there are players.
func (m *metrics) observe(r *http.Request, status int, took time.Duration) {
	m.requests.WithLabelValues(r.Pattern, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(r.Pattern).Observe(took.Seconds())
}

// newNodeCollector shows the state of a node.
func newNodeCollector(stats func() gameid.Stats) prometheus.Collector {
	c := &collector[gameid.Stats]{state: stats}
	minted := prometheus.NewDesc("gameid_minted_total", "IDs made since the start, by kind of entity.", []string{"kind"}, nil)
	c.metrics = append(c.metrics, metric[gameid.Stats]{minted, counter, func(s gameid.Stats, give func(float64, ...string)) {
		for kind, n := range s.Minted {
			give(float64(n), kind)
		}
	}})
	addStates(c, "gameid_lease_state", "1 for the state that the lease of the server number is in, 0 for the others. All but held need attention.",
		func(s gameid.Stats) gameid.LeaseState { return s.Lease }, gameid.LeaseHeld, gameid.LeaseExpired, gameid.LeaseLost, gameid.LeaseClosed)
	c.add(gauge, "gameid_ahead_seconds", "How far the time in the newest ID lies ahead of the clock.",
		func(s gameid.Stats) float64 { return s.Ahead.Seconds() })
	c.add(gauge, "gameid_reserved_left_seconds", "How long IDs could still be made if the registry were away.",
		func(s gameid.Stats) float64 { return s.Left.Seconds() })
	c.add(gauge, "gameid_lease_left_seconds", "How long the lease lasts if it is not renewed.",
		func(s gameid.Stats) float64 { return s.LeaseLeft.Seconds() })
	c.add(counter, "gameid_renewals_total", "Reservations that succeeded.",
		func(s gameid.Stats) float64 { return float64(s.Renewals) })
	c.add(counter, "gameid_renewal_failures_total", "Attempts to reserve that failed; each is repeated.",
		func(s gameid.Stats) float64 { return float64(s.Failures) })
	c.add(counter, "gameid_clock_steps_total", "Steps of the wall clock by 10 ms or more that were seen, either way.",
		func(s gameid.Stats) float64 { return float64(s.ClockSteps) })
	c.add(gauge, "gameid_clock_refused", "1 while the wall clock is not followed because it stepped too far and the registry's clock does not confirm it.",
		func(s gameid.Stats) float64 { return boolean(!s.RefusedClock.IsZero()) })
	c.add(counter, "gameid_waits_total", "Calls for an ID that had to wait, for the clock or for the registry.",
		func(s gameid.Stats) float64 { return float64(s.Waits) })
	c.add(gauge, "gameid_layout_left_years", "How long the layout of the IDs can still tell the time.",
		func(s gameid.Stats) float64 { return s.LayoutYearsLeft })
	return c
}
