package campaign

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
)

// Book is the state of a campaign: how far each merge is, and what happened. It is an SQLite
// database beside the campaign file. Any number of processes may read it, and say in it what
// they wish; one at a time works on the campaign.
type Book struct {
	campaign *Campaign
	file     string // the campaign file, as the operator names it
	beside   string // where it is: what belongs to it is beside this
	db       *sqldb.DB
	now      func() time.Time // the clock of all that is recorded and of windows; tests set it

	mu      sync.Mutex
	renamed map[string]renames // by merge, as far as players were asked for
}

// Open opens the state of a campaign that was read from a file. It makes the state, if there is
// none. The book must be closed.
func Open(ctx context.Context, c *Campaign, file string) (*Book, error) {
	b := &Book{campaign: c, file: file, beside: file, now: time.Now, renamed: make(map[string]renames)}
	if at, err := filepath.EvalSymlinks(file); err == nil {
		b.beside = at // two names of a file are one campaign, with one lock
	}
	lost, err := b.lookAtFile()
	if err != nil {
		return nil, err
	}
	db, err := sqldb.Dial(ctx, "sqlite:"+b.statePath(), sqldb.ReadWrite)
	if err != nil {
		return nil, b.fault("read", err)
	}
	b.db = db
	if err := b.create(ctx, lost); err != nil {
		db.Close()
		return nil, err
	}
	return b, nil
}

// Close closes the state.
func (b *Book) Close() error { return b.db.Close() }

// Campaign is what the campaign file says.
func (b *Book) Campaign() *Campaign { return b.campaign }

// File is the campaign file.
func (b *Book) File() string { return b.file }

func (b *Book) statePath() string { return b.beside + ".state" }
func (b *Book) lockPath() string  { return b.beside + ".lock" }

// Plans is the folder of the plans and reports.
func (b *Book) Plans() string { return b.beside + ".plans" }

// PlanFile is the file with the plan of a merge: a plan of servermerge.
func (b *Book) PlanFile(merge string) string { return b.fileOf(merge, ".json") }

// fileOf is a file for a merge in the folder of the plans.
func (b *Book) fileOf(merge, ending string) string {
	// A name may hold what no file system takes. A dot would hide the file.
	name := url.PathEscape(merge)
	for _, c := range `*<>|"?:` {
		name = strings.ReplaceAll(name, string(c), fmt.Sprintf("%%%02X", c))
	}
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return filepath.Join(b.Plans(), name+ending)
}

// Status is how the campaign is now. It reads only the state.
func (b *Book) Status(ctx context.Context) (*Status, error) {
	running := isTaken(b.lockPath())
	s := &Status{Name: b.campaign.Name, Parallel: b.campaign.Parallel, Merges: []MergeStatus{}}
	err := b.look(ctx, func(ctx context.Context, at state) (err error) {
		g, err := at.general(ctx)
		if err != nil {
			return err
		}
		known, err := at.records(ctx)
		if err != nil {
			return err
		}
		last, when, err := at.lastEvent(ctx)
		if err != nil {
			return err
		}
		s.Now, s.Paused, s.Began, s.Ended, s.Lost = b.now().UTC(), g.Paused, g.Began, g.Ended, g.Lost
		s.LastEvent = last
		if running {
			when = s.Now // otherwise it was killed after its last event
		}
		g.clock(when, false)
		s.Worked = g.Worked
		if running {
			s.Doing, s.Waits = g.Holder.Doing, g.Waits
		}
		for _, m := range b.campaign.Merges {
			r, err := at.merge(ctx, m)
			if err != nil {
				return err
			}
			if !running {
				r.idle()
			}
			s.Merges = append(s.Merges, r.MergeStatus)
		}
		s.Missing = b.missing(known)
		predict(s.Merges, known)
		return nil
	})
	return s, err
}

// idle takes out what is only true while a worker is at a merge.
func (r *record) idle() {
	r.Elapsed = 0
	r.Active, r.Step, r.Done, r.Total, r.PerSecond, r.Left, r.Waits = false, "", 0, 0, 0, 0, ""
}

// Events returns the events after a number, the oldest first, at most so many.
func (b *Book) Events(ctx context.Context, after int64, limit int) ([]Event, error) {
	var rows []struct {
		Event
		Ms int64 `db:"ms"`
	}
	const query = "SELECT number, at AS ms, kind, merge, text FROM events WHERE number > ? ORDER BY number LIMIT ?"
	if err := b.db.Select(ctx, &rows, query, after, limit); err != nil {
		return nil, b.fault("read", err)
	}
	all := make([]Event, len(rows))
	for i, r := range rows {
		all[i] = r.Event
		all[i].At = time.UnixMilli(r.Ms).UTC()
	}
	return all, nil
}

// Pause has the running process stop between two batches, and wait until [Book.Resume]. It
// holds for the next process too.
func (b *Book) Pause(ctx context.Context) error { return b.pause(ctx, true) }

// Resume ends what [Book.Pause] began.
func (b *Book) Resume(ctx context.Context) error { return b.pause(ctx, false) }

func (b *Book) pause(ctx context.Context, paused bool) error {
	return b.change(ctx, func(ctx context.Context, s state) error {
		g, err := s.general(ctx)
		if err != nil || g.Paused == paused {
			return err
		}
		if err := s.setGeneral(ctx, func(g *general) {
			g.Paused = paused
			g.clock(b.now().UTC(), isTaken(b.lockPath()) && g.works())
		}); err != nil {
			return err
		}
		kind, text := KindResumed, "resumed by the operator"
		if paused {
			kind = KindPaused
			text = "paused by the operator: running merges wait between two batches, and no new merge begins"
		}
		return s.event(ctx, b.now(), kind, "", text)
	})
}

// Skip leaves a merge out: if it runs, it stops between two batches. Its new database stays as it is then,
// until the merge is applied by its name, or undone.
func (b *Book) Skip(ctx context.Context, merge string) error {
	m, err := b.merge(merge)
	if err != nil {
		return err
	}
	return b.change(ctx, func(ctx context.Context, s state) error {
		r, err := s.merge(ctx, m)
		if err != nil {
			return err
		}
		switch {
		case r.Phase == Skipped || r.Skip:
			return nil
		case r.Phase == Verified || r.Phase == Undone:
			return &unfitError{fmt.Sprintf("the merge %q is already %s", merge, r.Phase)}
		case r.Phase.IsTry():
			return &unfitError{fmt.Sprintf("the merge %q has the database of a rehearsal: undo the rehearsal first", merge)}
		case r.Active && isTaken(b.lockPath()):
			r.Skip = true // the process that works on it says how far it came
			return s.put(ctx, r)
		}
		return b.skip(ctx, s, r)
	})
}

// skippedText is the problem of a merge that was skipped after it began.
const skippedText = "skipped by the operator after it began; its new database is not open: " +
	"apply it by name, or undo it, before you start a game server of its worlds"

// skip leaves out a merge that nobody works on.
func (b *Book) skip(ctx context.Context, s state, r *record) error {
	begun := r.Phase.Begun() || r.Fenced
	r.idle()
	r.Phase, r.Skip, r.Problem, r.Advice = Skipped, false, "", nil
	text := "skipped by the operator; nothing was written"
	if begun {
		text = skippedText
		r.Problem = text
	}
	if err := s.put(ctx, r); err != nil {
		return err
	}
	return s.event(ctx, b.now(), KindSkipped, r.Name(), text)
}

// begun reports whether a new database may have been made, also of a merge that was
// skipped: only one that had begun has a problem then.
func (r *record) begun() bool {
	return r.Phase.Begun() || r.Phase == Skipped && r.Problem != ""
}

// merge returns the merge of a name.
func (b *Book) merge(name string) (Merge, error) {
	at := b.campaign.Place(name)
	if at < 0 {
		names := slice.Map(b.campaign.Merges, Merge.Name)
		return Merge{}, fmt.Errorf("no merge of the campaign has %q as its first world%s", name, naming.Hint(name, names))
	}
	return b.campaign.Merges[at], nil
}
