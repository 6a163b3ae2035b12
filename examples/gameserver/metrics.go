package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mergesafe/gameid"
	nodemetrics "mergesafe/gameid/metrics"
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
		collectors.NewDBStatsCollector(db.Pool(), "game"),
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

// collector shows figures to Prometheus: all values are of one moment.
type collector func() []nodemetrics.Metric

func newNodeCollector(stats func() gameid.Stats) collector {
	return func() []nodemetrics.Metric { return nodemetrics.Of(stats()) }
}

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c() {
		descs <- descOf(m)
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, m := range c() {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		for _, sample := range m.Samples {
			var label []string
			if m.Label != "" {
				label = []string{sample.Label}
			}
			out <- prometheus.MustNewConstMetric(descOf(m), kind, sample.Value, label...)
		}
	}
}

func descOf(m nodemetrics.Metric) *prometheus.Desc {
	var labels []string
	if m.Label != "" {
		labels = []string{m.Label}
	}
	return prometheus.NewDesc(m.Name, m.Help, labels, nil)
}

// counter and gauge are figures of this server beside those of its node.
func counter(name, help string, value uint64) nodemetrics.Metric {
	samples := []nodemetrics.Sample{{Value: float64(value)}}
	return nodemetrics.Metric{Name: name, Help: help, Counter: true, Samples: samples}
}

func gauge(name, help string, value int64) nodemetrics.Metric {
	return nodemetrics.Metric{Name: name, Help: help, Samples: []nodemetrics.Sample{{Value: float64(value)}}}
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
