package metrics_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"mergesafe/gameid"
	"mergesafe/gameid/metrics"
)

// collector shows a node to Prometheus by its client library: all values are of one moment.
type collector func() gameid.Stats

// Describe implements [prometheus.Collector].
func (c collector) Describe(descs chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, descs) }

// Collect implements [prometheus.Collector].
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, m := range metrics.Of(c()) {
		kind, names := prometheus.GaugeValue, []string(nil)
		if m.Counter {
			kind = prometheus.CounterValue
		}
		if m.Label != "" {
			names = []string{m.Label}
		}
		desc := prometheus.NewDesc(m.Name, m.Help, names, nil)
		for _, sample := range m.Samples {
			out <- prometheus.MustNewConstMetric(desc, kind, sample.Value, []string{sample.Label}[:len(names)]...)
		}
	}
}

// Every figure comes out under its name, and with the client library the text is the same.
func TestNodeMetrics(t *testing.T) {
	stats := gameid.Stats{
		Minted:          map[string]uint64{"Player": 1 << 60, "a \"b\" \\ \n c": 2},
		Ahead:           1500 * time.Millisecond,
		Left:            9 * time.Second,
		LeaseLeft:       14 * time.Second,
		ClockSteps:      3,
		RefusedClock:    time.Now(),
		Renewals:        4,
		Failures:        5,
		LastFailure:     errors.New("away"),
		Waits:           6,
		Lease:           gameid.LeaseExpired,
		LayoutYearsLeft: 555.5,
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector(func() gameid.Stats { return stats }))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	var plain strings.Builder
	if err := metrics.WriteText(&plain, stats); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answer.Body.String(), plain.String()); diff != "" {
		t.Errorf("(-client library +ours):\n%s", diff)
	}
	for _, want := range []string{
		`gameid_ahead_seconds 1.5`,
		`gameid_clock_refused 1`,
		`gameid_clock_steps_total 3`,
		`gameid_layout_left_years 555.5`,
		`gameid_lease_left_seconds 14`,
		`gameid_lease_state{state="closed"} 0`,
		`gameid_lease_state{state="expired"} 1`,
		`gameid_lease_state{state="held"} 0`,
		`gameid_lease_state{state="lost"} 0`,
		`gameid_minted_total{kind="Player"} 1.152921504606847e+18`,
		`gameid_renewal_failures_total 5`,
		`gameid_renewals_total 4`,
		`gameid_reserved_left_seconds 9`,
		`gameid_waits_total 6`,
	} {
		if !strings.Contains(plain.String(), "\n"+want+"\n") {
			t.Errorf("there is no line %s in\n%s", want, &plain)
		}
	}
}
