package main

import "github.com/prometheus/client_golang/prometheus"

// The kinds of metrics.
const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// collector shows the state of something to Prometheus: all values are of one
// moment.
type collector[S any] struct {
	state   func() S
	metrics []metric[S]
}

type metric[S any] struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	values func(s S, give func(value float64, label ...string))
}

// add adds a metric without labels.
func (c *collector[S]) add(kind prometheus.ValueType, name, help string, value func(S) float64) {
	c.metrics = append(c.metrics, metric[S]{prometheus.NewDesc(name, help, nil, nil), kind,
		func(s S, give func(float64, ...string)) { give(value(s)) }})
}

// addStates adds a metric that is 1 for the state that something is in, and 0
// for the others.
func addStates[S any, T ~string](c *collector[S], name, help string, now func(S) T, all ...T) {
	c.metrics = append(c.metrics, metric[S]{prometheus.NewDesc(name, help, []string{"state"}, nil), gauge,
		func(s S, give func(float64, ...string)) {
			for _, state := range all {
				give(boolean(now(s) == state), string(state))
			}
		}})
}

// Describe implements prometheus.Collector.
func (c *collector[S]) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector[S]) Collect(out chan<- prometheus.Metric) {
	s := c.state()
	for _, m := range c.metrics {
		m.values(s, func(value float64, label ...string) {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, value, label...)
		})
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
