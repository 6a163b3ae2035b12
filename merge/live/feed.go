package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"mergesafe/merge/campaign"
)

// patience is how long the state may take to be read.
const patience = 10 * time.Second

// shownEvents is how many of the last events are on the page.
const shownEvents = 60

// feed reads the state for all that look at it, at most once in a while.
type feed struct {
	source  Source
	options Options
	boot    string // of this process: versions of another one mean nothing
	broken  error  // of the templates
	render  renderer

	turn chan struct{} // who holds it may read
	last *view         // by whom holds the turn
}

// view is the state at one moment, as pages show it. It does not change.
type view struct {
	Version int64
	Read    time.Time // when it was asked for; that it answered is another matter: see Err
	Now     time.Time // when all this was so
	Status  *campaign.Status
	Said    campaign.Said    // of Status
	Events  []campaign.Event // the last ones, the newest first
	Err     error            // why the state cannot be read now; the page shows an older one
	Parts   []part
	Shape   string // differs if other parts are there: such a page has to be loaded anew
}

// part is a part of the page that changes as a whole.
type part struct {
	ID      string
	HTML    string
	Changed int64 // the version in which it became what it is
}

func newFeed(source Source, o Options) *feed {
	f := &feed{source: source, options: o, boot: rand.Text()[:8], turn: make(chan struct{}, 1)}
	f.render, f.broken = newRenderer()
	return f
}

// view returns what is so now, or was at most a second ago. Its error is that of the
// context.
func (f *feed) view(ctx context.Context) (*view, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.last == nil || time.Since(f.last.Read) >= f.options.every {
		f.last = f.read(ctx, f.last)
	}
	return f.last, nil
}

// read makes the next view. Others wait for it too, so that it does not end with the one who
// asked.
func (f *feed) read(ctx context.Context, last *view) *view {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	next := &view{Version: 1, Read: time.Now()}
	if last != nil {
		next.Version, next.Now, next.Status, next.Events = last.Version+1, last.Now, last.Status, last.Events
		next.Said = last.Said
	}
	status, err := f.source.Status(ctx)
	var events []campaign.Event
	if err == nil {
		events, err = f.source.Events(ctx, max(0, status.LastEvent-shownEvents), shownEvents)
	}
	if err != nil {
		next.Err = err
	} else {
		next.Status, next.Now = status, status.Now
		next.Said = status.Say(f.options.telling())
		next.Events = reversed(events)
	}
	parts, err := f.render.parts(newBoard(next, f.options))
	if err != nil { // of a template, which a test would have seen
		next.Err = cmp.Or(next.Err, fmt.Errorf("live: %w", err))
		if last != nil {
			parts = last.Parts
		}
	}
	known := make(map[string]part)
	if last != nil {
		for _, p := range last.Parts {
			known[p.ID] = p
		}
	}
	for i, p := range parts {
		parts[i].Changed = next.Version
		if old, ok := known[p.ID]; ok && old.HTML == p.HTML {
			parts[i].Changed = old.Changed
		}
		next.Shape += p.ID + " "
	}
	next.Parts, next.Shape = parts, fingerprint(next.Shape)
	return next
}

// stamp names a version of this process.
func (f *feed) stamp(v *view) string { return fmt.Sprintf("%s-%d", f.boot, v.Version) }

// version is the number of a stamp; 0 if it is of another process, or none at all.
func (f *feed) version(stamp string) (n int64) {
	if _, err := fmt.Sscanf(stamp, f.boot+"-%d", &n); err != nil {
		return 0
	}
	return n
}

func reversed(events []campaign.Event) []campaign.Event {
	events = slices.Clone(events)
	slices.Reverse(events)
	return events
}

// refresh lets the next who asks read the state, however new the last view is.
func (f *feed) refresh() {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.last != nil {
		stale := *f.last
		stale.Read = time.Time{}
		f.last = &stale
	}
}
