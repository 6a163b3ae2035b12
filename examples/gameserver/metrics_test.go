package main

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"mergesafe/gameid"
	nodemetrics "mergesafe/gameid/metrics"
)

func metricsText(s *testServer) string {
	s.t.Helper()
	status, answer, err := s.send("GET", "/metrics", nil)
	if status != 200 || err != nil {
		s.t.Fatalf("/metrics: %d, %v", status, err)
	}
	return string(answer)
}

// Names and units are as Prometheus wants them.
func TestMetricNames(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	var ignored any
	s.ask("POST", "/players", `{"account":"a","name":"Aria"}`, &ignored)
	problems, err := promlint.New(strings.NewReader(metricsText(s))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Metric, "go_") { // not ours
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestMetricsCount(t *testing.T) {
	s := newTestServer(t, sqliteDSN(t), nil, time.Minute)
	var player struct{ ID string }
	s.ask("POST", "/players", `{"account":"a","name":"Aria"}`, &player)
	s.ask("POST", "/players/"+player.ID+"/items", loot(30), new(any))
	s.send("POST", "/players", `{"account":"a","name":"Aria"}`)
	s.send("GET", "/nowhere", nil)
	text := metricsText(s)
	for _, want := range []string{
		`gameserver_info{name="s7",server="7"} 1`,
		`gameid_minted_total{kind="Player"} 2`,
		`player_numbers_issued_total 1`, // a name that is taken costs none
		`player_numbers_left 19`,
		`player_numbers_block_size 20`,
		`player_numbers_blocks_total 1`,
		`player_numbers_failures_total 0`,
		`player_numbers_failing 0`,
		`player_numbers_kept_back_total 0`,
		`gameid_minted_total{kind="Item"} 30`,
		`gameid_minted_total{kind="Guild"} 0`,
		`gameid_lease_state{state="held"} 1`,
		`gameid_lease_state{state="lost"} 0`,
		`gameid_renewals_total 1`,
		`http_requests_total{code="201",route="POST /players"} 1`,
		`http_requests_total{code="409",route="POST /players"} 1`,
		`http_requests_total{code="201",route="POST /players/{id}/items"} 1`,
		`http_requests_total{code="404",route=""} 1`,
		`http_request_duration_seconds_count{route="POST /players"} 2`,
		`http_requests_in_flight 1`,
		`http_panics_total 0`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// Every figure of the node comes out under its name.
func TestNodeMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	stats := gameid.Stats{
		Minted:          map[string]uint64{"Player": 1, "game.Item": 2},
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
	registry.MustRegister(newNodeCollector(func() gameid.Stats { return stats }))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	var got []string
	for line := range strings.Lines(answer.Body.String()) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		`gameid_ahead_seconds 1.5`,
		`gameid_clock_refused 1`,
		`gameid_clock_steps_total 3`,
		`gameid_layout_left_years 555.5`,
		`gameid_lease_left_seconds 14`,
		`gameid_lease_state{state="closed"} 0`,
		`gameid_lease_state{state="expired"} 1`,
		`gameid_lease_state{state="held"} 0`,
		`gameid_lease_state{state="lost"} 0`,
		`gameid_minted_total{kind="Player"} 1`,
		`gameid_minted_total{kind="game.Item"} 2`,
		`gameid_renewal_failures_total 5`,
		`gameid_renewals_total 4`,
		`gameid_reserved_left_seconds 9`,
		`gameid_waits_total 6`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Without the client library it is the same text.
	stats.Minted = map[string]uint64{"Player": 1 << 60, "a \"b\" \\ \n c": 2}
	answer = httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
	var plain strings.Builder
	if err := nodemetrics.WriteText(&plain, stats); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(answer.Body.String(), plain.String()); diff != "" {
		t.Errorf("(-client library +ours):\n%s", diff)
	}
}
