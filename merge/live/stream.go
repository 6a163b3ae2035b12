package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// slow is how long a browser may take for one message.
const slow = 10 * time.Second

// padding fills the buffers of proxies that wait for more.
var padding = ": " + strings.Repeat(" ", 2048) + "\n"

// message is what a page is sent: the parts that changed. None, to say that all is as it was.
type message struct {
	Now   string            `json:"now"`             // of the state
	Error string            `json:"error,omitempty"` // why the state cannot be read
	Parts map[string]string `json:"parts,omitempty"`
}

// stream sends the parts of the page that changed, as Server-Sent Events. The number of an
// event is the version that the page has with it: who comes back with it is sent what changed
// since.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case h.seats <- struct{}{}:
		defer func() { <-h.seats }()
	default:
		w.Header().Set("Retry-After", "30")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf(
			"%d pages are already open: this one reads the state at intervals instead", h.options.viewers))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	to := &line{w: w, rc: http.NewResponseController(w)}
	if !to.send(padding + "retry: 2000\n\n") {
		return
	}
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.FormValue("after")
	}
	has := h.feed.version(since)
	ticker := time.NewTicker(h.options.every)
	defer ticker.Stop()
	var sent time.Time
	for ending := false; ; {
		v, err := h.feed.view(r.Context())
		if err != nil {
			return
		}
		if shape := r.FormValue("shape"); shape != "" && shape != v.Shape {
			to.send("event: reload\ndata: {}\n\n")
			return
		}
		m := message{Now: clock(v.Now)}
		if v.Err != nil {
			m.Error = trim(v.Err)
		}
		for _, p := range v.Parts {
			if p.Changed > has {
				if m.Parts == nil {
					m.Parts = make(map[string]string)
				}
				m.Parts[p.ID] = p.HTML
			}
		}
		if m.Parts != nil || time.Since(sent) >= h.options.beat {
			if !to.event(h.feed.stamp(v), m) {
				return
			}
			has, sent = v.Version, time.Now()
		}
		if ending {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-h.closed:
			ending = true // the last state is yet to be sent
		case <-ticker.C:
		}
	}
}

// line is the connection to one page.
type line struct {
	w  io.Writer
	rc *http.ResponseController
}

func (l *line) event(id string, m message) bool {
	var b bytes.Buffer
	e := json.NewEncoder(&b) // escapes every end of line, and ends with one
	e.SetEscapeHTML(false)   // which no browser takes for a page: see secure
	if e.Encode(m) != nil {
		return false
	}
	return l.send("id: " + id + "\nevent: parts\ndata: " + b.String() + "\n")
}

// send reports whether it was sent in time.
func (l *line) send(text string) bool {
	l.rc.SetWriteDeadline(time.Now().Add(slow)) // of a test's recorder there is none
	if _, err := io.WriteString(l.w, text); err != nil {
		return false
	}
	return l.rc.Flush() == nil
}
