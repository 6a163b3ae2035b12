// Package metrics shows the state of a node to operators: as metrics of
// Prometheus, as attributes of a log line, and as healthy or not. It imports
// the standard library only.
package metrics

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mergesafe/gameid"
)

// Metric is a figure of a node, or one for each value of a label.
type Metric struct {
	Name, Help string
	Counter    bool // else it is a gauge
	Label      string
	Samples    []Sample
}

// Sample is one value. Label is empty if its metric has no label.
type Sample struct {
	Label string
	Value float64
}

// Of returns the metrics of s, sorted by name. The names and labels are
// the same for every s.
func Of(s gameid.Stats) []Metric {
	var minted, states []Sample
	for _, kind := range slices.Sorted(maps.Keys(s.Minted)) {
		minted = append(minted, Sample{kind, float64(s.Minted[kind])})
	}
	for _, state := range []gameid.LeaseState{gameid.LeaseClosed, gameid.LeaseExpired, gameid.LeaseHeld, gameid.LeaseLost} {
		states = append(states, Sample{string(state), boolean(s.Lease == state)})
	}
	gauge := func(name, help string, v float64) Metric {
		return Metric{Name: name, Help: help, Samples: []Sample{{Value: v}}}
	}
	counter := func(name, help string, v uint64) Metric {
		return Metric{Name: name, Help: help, Counter: true, Samples: []Sample{{Value: float64(v)}}}
	}
	return []Metric{
		gauge("gameid_ahead_seconds", "How far the time in the newest ID is ahead of the clock.", s.Ahead.Seconds()),
		gauge("gameid_clock_refused", "1 while the wall clock is ignored because it stepped too far and the registry's clock does not confirm it.", boolean(!s.RefusedClock.IsZero())),
		counter("gameid_clock_steps_total", "Observed steps of the wall clock by 10 ms or more, in either direction.", s.ClockSteps),
		gauge("gameid_layout_left_years", "How long the layout of the IDs can still represent the time.", s.LayoutYearsLeft),
		gauge("gameid_lease_left_seconds", "How long the lease lasts if it is not renewed.", s.LeaseLeft.Seconds()),
		{"gameid_lease_state", "1 for the state of the server's lease, 0 for the others. All but held need attention.", false, "state", states},
		{"gameid_minted_total", "IDs made since the start, by kind of entity.", true, "kind", minted},
		counter("gameid_renewal_failures_total", "Failed attempts to reserve; each is retried.", s.Failures),
		counter("gameid_renewals_total", "Reservations that succeeded.", s.Renewals),
		gauge("gameid_reserved_left_seconds", "How long IDs could still be created without the registry.", s.Left.Seconds()),
		counter("gameid_waits_total", "Calls for an ID that had to wait for the clock or the registry.", s.Waits),
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ContentType is the content type of the output of [WriteText].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

var escape = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)

// WriteText writes s in the text format of Prometheus, for a game server that uses no
// client library.
func WriteText(w io.Writer, s gameid.Stats) error {
	var b bytes.Buffer
	for _, m := range Of(s) {
		if len(m.Samples) == 0 {
			continue
		}
		kind := "gauge"
		if m.Counter {
			kind = "counter"
		}
		b.WriteString("# HELP " + m.Name + " " + m.Help + "\n# TYPE " + m.Name + " " + kind + "\n")
		for _, sample := range m.Samples {
			b.WriteString(m.Name)
			if m.Label != "" {
				b.WriteString("{" + m.Label + `="` + escape.Replace(sample.Label) + `"}`)
			}
			b.WriteString(" " + strconv.FormatFloat(sample.Value, 'g', -1, 64) + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
