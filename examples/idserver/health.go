package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"mergesafe/gameid"
)

// health answers GET /healthz: 200 if the node has its lease and time left to
// make IDs of, else 503 with the reason.
func (s *server) health(w http.ResponseWriter, r *http.Request) {
	stats := s.node.Stats()
	status := http.StatusOK
	body := map[string]any{"status": "ok", "server": stats.Server, "lease": stats.Lease}
	why := s.reason(stats)
	if s.node.Err() != nil || stats.Lease != gameid.LeaseHeld || stats.Left <= 0 && why != nil {
		status, body["reason"] = http.StatusServiceUnavailable, fmt.Sprint(why)
	}
	if status != http.StatusOK {
		body["status"] = "unavailable"
	}
	answerJSON(w, status, body)
}

// reason is why the node makes no IDs, or will soon make none; nil if nothing
// is known against it.
func (s *server) reason(stats gameid.Stats) error {
	if err := s.node.Err(); err != nil {
		return err
	}
	return stats.LastFailure
}

// metrics answers GET /metrics in the text format of Prometheus.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	stats := s.node.Stats()
	var b bytes.Buffer
	name := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	name("idserver_ids_total", "counter", "IDs given out since the start, by kind.")
	for _, kind := range s.names {
		fmt.Fprintf(&b, "idserver_ids_total{kind=%q} %d\n", kind, s.kinds[kind].Load())
	}
	one := func(metric, kind, help string, value any) {
		name(metric, kind, help)
		fmt.Fprintf(&b, "%s %v\n", metric, value)
	}
	one("idserver_refused_total", "counter", "Requests for IDs that got none.", s.failed.Load())
	held := 0
	if stats.Lease == gameid.LeaseHeld {
		held = 1
	}
	one("gameid_lease_held", "gauge", "1 while the lease of the server number is held. 0 needs attention.", held)
	one("gameid_reserved_left_seconds", "gauge", "How long IDs could still be made if the database could not be reached.", stats.Left.Seconds())
	one("gameid_lease_left_seconds", "gauge", "How long the lease lasts if it is not renewed.", stats.LeaseLeft.Seconds())
	one("gameid_ahead_seconds", "gauge", "How far the time in the newest ID is ahead of the clock.", stats.Ahead.Seconds())
	one("gameid_renewals_total", "counter", "Reservations that succeeded.", stats.Renewals)
	one("gameid_renewal_failures_total", "counter", "Attempts to reserve that failed; each is repeated.", stats.Failures)
	one("gameid_waits_total", "counter", "Times that making IDs had to wait, for the clock or for the database.", stats.Waits)
	if seconds, ok := cpuSeconds(); ok {
		one("process_cpu_seconds_total", "counter", "CPU time of this process.", seconds)
	}
	answer(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
}

// cpuSeconds is the CPU time of this process. Only Linux tells it this way.
func cpuSeconds() (seconds float64, ok bool) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, false
	}
	// The second field is the name, in parentheses; what follows are numbers, among them
	// the fourteenth and fifteenth field in hundredths of a second.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	for _, field := range fields[11:13] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, false
		}
		seconds += ticks / 100
	}
	return seconds, true
}
