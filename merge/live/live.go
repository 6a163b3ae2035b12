package live

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"mergesafe/merge/campaign"
)

// Source tells how far a campaign is. *campaign.Book is one.
type Source interface {
	Status(ctx context.Context) (*campaign.Status, error)
	Events(ctx context.Context, after int64, limit int) ([]campaign.Event, error)
}

// Control takes the wishes of an operator. *campaign.Book does.
type Control interface {
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	Skip(ctx context.Context, merge string) error
}

// Options configures a [Handler]. The zero Options serve a page that is read-only, to every
// program on this machine.
type Options struct {
	// File is the campaign file as it is named in commands that are shown, and Command makes these; nil: without flags.
	File    string
	Command func(name string, merges ...string) string

	// Token is asked for before anything is shown, if Private is set, and before each action of
	// Control.
	Token   string
	Private bool
	Control Control // nil: read-only

	// Hosts are names and addresses by which the page may be asked for, besides those of this
	// machine and the address that a request came to.
	Hosts []string

	// Reports is the folder of the files that [campaign.MergeStatus] lists; nil: none are served.
	Reports fs.FS

	// Players answers /api/players; nil: there is no such thing.
	Players http.Handler

	// Tests are faster than the defaults.
	every   time.Duration // the state is read at most so often: 1 s
	beat    time.Duration // something is sent to every page at least so often: 5 s
	viewers int           // streams at a time: 200
}

// telling is for who looks at the page.
func (o Options) telling() campaign.Telling {
	return campaign.Telling{File: o.File, Command: o.Command}
}

// Handler serves a campaign. It is safe for concurrent use, and has no goroutine of its own:
// the state is read when a client asks.
type Handler struct {
	options Options
	feed    *feed
	mux     *http.ServeMux
	cross   *http.CrossOriginProtection
	seats   chan struct{} // one for each stream
	closed  chan struct{}
	close   sync.Once
}

// New returns a handler for a campaign.
func New(source Source, o Options) *Handler {
	o.every, o.beat, o.viewers = cmp.Or(o.every, time.Second), cmp.Or(o.beat, 5*time.Second), cmp.Or(o.viewers, 200)
	h := &Handler{
		options: o, mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		feed:  newFeed(source, o),
		seats: make(chan struct{}, o.viewers), closed: make(chan struct{}),
	}
	h.mux.HandleFunc("GET /{$}", h.page)
	h.mux.HandleFunc("GET /live", h.stream)
	for name, a := range assets() {
		h.mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", a.kind)
			io.WriteString(w, a.text)
		})
	}
	h.mux.HandleFunc("GET /report/{name...}", h.report)
	h.mux.HandleFunc("GET /metrics", h.metrics)
	h.mux.HandleFunc("GET /api/status", h.status)
	h.mux.HandleFunc("GET /api/events", h.events)
	if o.Players != nil {
		h.mux.Handle("GET /api/players", o.Players)
	}
	if o.Control != nil {
		h.mux.HandleFunc("POST /api/pause", h.action(whole(o.Control.Pause)))
		h.mux.HandleFunc("POST /api/resume", h.action(whole(o.Control.Resume)))
		h.mux.HandleFunc("POST /api/skip", h.action(one(o.Control.Skip)))
	}
	return h
}

// Close ends all streams, after each was sent the last state. It is for
// [http.Server.RegisterOnShutdown].
func (h *Handler) Close() {
	h.close.Do(func() {
		h.feed.refresh()
		close(h.closed)
	})
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	if !h.knownHost(r) {
		refuse(w, http.StatusMisdirectedRequest, "this page is not served under the name in the Host header; fleet serve -host NAME allows one")
		return
	}
	if h.options.Private && !h.mayRead(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="campaign: the token is the password", charset="UTF-8"`)
		refuse(w, http.StatusUnauthorized, "this page needs the token: as the password, with any name, or as Authorization: Bearer")
		return
	}
	if h.feed.broken != nil {
		refuse(w, http.StatusInternalServerError, h.feed.broken.Error())
		return
	}
	h.mux.ServeHTTP(w, r)
}

// refuse answers with an error: in JSON, since programs read it as well.
func refuse(w http.ResponseWriter, code int, reason string) {
	writeJSON(w, code, struct {
		Error string `json:"error"`
	}{reason})
}

// trim returns the first words of an error that came from elsewhere, for one line.
func trim(err error) string { return strings.TrimSpace(err.Error()) }
