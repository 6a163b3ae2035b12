package live

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"mergesafe/merge/campaign"
)

// metricsType is that of the text format of Prometheus.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

var labelEscape = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)

// exposition writes metrics.
type exposition struct{ bytes.Buffer }

func (e *exposition) metric(name, kind, help string) {
	e.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

func (e *exposition) sample(name, label, is string, value float64) {
	e.WriteString(name)
	if label != "" {
		e.WriteString("{" + label + `="` + labelEscape.Replace(strings.ToValidUTF8(is, "\uFFFD")) + `"}`)
	}
	e.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

func (e *exposition) gauge(name, help string, value float64) {
	e.metric(name, "gauge", help)
	e.sample(name, "", "", value)
}

// metrics answers also when the state cannot be read, and says so: whoever watches hears of it.
func (h *Handler) metrics(w http.ResponseWriter, r *http.Request) {
	v, err := h.feed.view(r.Context())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, trim(err))
		return
	}
	e := new(exposition)
	e.gauge("fleet_state_readable", "1 if the state of the campaign could be read; otherwise the other figures are older.", boolean(v.Err == nil))
	e.gauge("fleet_pages", "Open pages that listen.", float64(len(h.seats)))
	if v.Status != nil {
		e.status(v.Status)
	}
	w.Header().Set("Content-Type", metricsType)
	w.Write(e.Bytes())
}

func (e *exposition) status(s *campaign.Status) {
	e.gauge("fleet_state_time_seconds", "When the figures were read, in seconds since 1970.", float64(s.Now.UnixMilli())/1000)
	e.metric("fleet_doing", "gauge", "1 for the step of the running process, 0 for the others. All are 0 if none runs.")
	for _, doing := range []string{"apply", "plan", "try", "undo", "verify"} {
		e.sample("fleet_doing", "command", doing, boolean(s.Doing == doing))
	}
	e.gauge("fleet_paused", "1 if the operator paused the campaign.", boolean(s.Paused))
	e.gauge("fleet_waits", "1 if the process waits, for example for its window of time.", boolean(s.Waits != ""))
	count := make(map[campaign.Phase]int)
	var rows, all int64
	for i := range s.Merges {
		m := &s.Merges[i]
		count[m.Phase]++
		rows, all = rows+m.Came(), all+m.Rows
	}
	e.metric("fleet_merges", "gauge", "Merges of the campaign, by phase.")
	for _, l := range looks {
		e.sample("fleet_merges", "phase", string(l.phase), float64(count[l.phase]))
	}
	e.gauge("fleet_rows", "Rows already in their new database.", float64(rows))
	e.gauge("fleet_rows_planned", "Rows to copy in merges that have a plan.", float64(all))
	left, unknown := s.TimeLeft()
	e.gauge("fleet_left_seconds_least", "Seconds that the unfinished merges still need, at least.", left[0])
	e.gauge("fleet_left_seconds_most", "Seconds that the unfinished merges still need, at most.", left[1])
	e.gauge("fleet_merges_unpredicted", "Unfinished merges without a prediction.", float64(unknown))
	e.metric("fleet_events_total", "counter", "Events of the campaign.")
	e.sample("fleet_events_total", "", "", float64(s.LastEvent))
	if s.Began != nil {
		e.gauge("fleet_worked_seconds", "Seconds that apply has worked, without pauses and the time between two commands.", s.Worked)
	}
	for _, of := range []struct {
		name, help string
		value      func(*campaign.MergeStatus) float64
	}{
		{"fleet_merge_rows_done", "Rows done in the current step of running merges.",
			func(m *campaign.MergeStatus) float64 { return float64(m.Done) }},
		{"fleet_merge_rows_per_second", "Rows per second of running merges.",
			func(m *campaign.MergeStatus) float64 { return m.PerSecond }},
		{"fleet_merge_left_seconds", "Predicted seconds that running merges still need.",
			func(m *campaign.MergeStatus) float64 { return m.Left }},
	} {
		e.metric(of.name, "gauge", of.help)
		for i := range s.Merges {
			if m := &s.Merges[i]; m.Active && s.Doing != "" {
				e.sample(of.name, "merge", m.Name(), of.value(m))
			}
		}
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
