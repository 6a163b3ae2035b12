package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"
)

// stateVersion is the version of the tables of the state, and of the JSON in them. It rises
// when something changes its meaning or goes away, not when something is added.
const stateVersion = 1

// The state is a log of what was done, for people and for predictions. What decides is in the
// databases themselves: see [merge.LookUp].
var stateTables = []string{
	`CREATE TABLE IF NOT EXISTS campaign (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL, record TEXT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS merges (merge TEXT PRIMARY KEY, record TEXT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, merge TEXT NOT NULL, text TEXT NOT NULL)`,
}

// general is what the state knows of the campaign as a whole.
type general struct {
	Holder Holder     `json:"holder"` // the last one
	Paused bool       `json:"paused,omitempty"`
	Waits  string     `json:"waits,omitempty"`
	Began  *time.Time `json:"began,omitempty"`
	Ended  *time.Time `json:"ended,omitempty"`
	Worked float64    `json:"worked,omitempty"` // seconds, until Since
	Since  *time.Time `json:"since,omitempty"`  // since when apply works without a pause; nil: it does not
	Told   int64      `json:"told,omitempty"`   // the last event that hooks were called with
	Lost   bool       `json:"lost,omitempty"`   // see [Status]
}

// clock counts the time until now as work, if it is, and says whether apply works from now on.
func (g *general) clock(now time.Time, works bool) {
	if g.Since != nil {
		g.Worked += max(0, now.Sub(*g.Since).Seconds())
		g.Since = nil
	}
	if works {
		g.Since = &now
	}
}

// works reports whether apply works while it runs.
func (g *general) works() bool { return g.Holder.Doing == doingApply && !g.Paused && g.Waits == "" }

// record is what the state knows of one merge.
type record struct {
	MergeStatus

	// Skip is the operator's wish that the running process leaves the merge out.
	Skip bool `json:"skip,omitempty"`

	// To is the address of the new database that the plan makes, and From that of the first world's database
	// then, both without user and password; "" without a plan.
	To   string `json:"to,omitempty"`
	From string `json:"from,omitempty"`

	// Basis is what the plan rests on beside the databases; see [Options].
	Basis string `json:"basis,omitempty"`

	// Weight is how much work the merge is, in seconds on a small machine: see [Work].
	Weight float64 `json:"weight,omitempty"`

	// Elapsed is how many seconds the attempt that runs has taken.
	Elapsed float64 `json:"elapsed,omitempty"`

	// Tried is how long a rehearsal of the merge took without an interruption, in seconds; 0 if there was none.
	Tried float64 `json:"tried,omitempty"`

	// TriedWeight is how much work it was then; see [predict].
	TriedWeight float64 `json:"tried_weight,omitempty"`

	// Measured is how long it took from the first row to the proof, in seconds, if that was
	// done without an interruption.
	Measured float64 `json:"measured,omitempty"`
}

// create makes the tables, if they are not there, and checks the version. lost tells that there
// was a state before.
func (b *Book) create(ctx context.Context, lost bool) error {
	var version int
	err := b.db.Get(ctx, &version, "SELECT version FROM campaign")
	if err != nil {
		err = b.db.RetryTx(ctx, func(tx *sqldb.Tx) error {
			for _, table := range stateTables {
				if _, err := tx.Exec(ctx, table); err != nil {
					return err
				}
			}
			first, err := json.Marshal(general{Lost: lost})
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT OR IGNORE INTO campaign (only, version, record) VALUES (1, ?, ?)", stateVersion, string(first)); err != nil {
				return err
			}
			return tx.Get(ctx, &version, "SELECT version FROM campaign")
		})
	}
	if err != nil {
		return b.fault("read", err)
	}
	if version != stateVersion {
		return fmt.Errorf("campaign: the state %s has version %d, and this program knows version %d: use the program that wrote it", b.statePath(), version, stateVersion)
	}
	return nil
}

// state is the state in one transaction that changes it, or in one snapshot.
type state struct{ tx *sqldb.Tx }

// change changes the state in one transaction.
func (b *Book) change(ctx context.Context, do func(ctx context.Context, s state) error) error {
	err := b.db.RetryTx(ctx, func(tx *sqldb.Tx) error { return do(ctx, state{tx}) })
	if no, ok := errors.AsType[*unfitError](err); ok {
		return no
	}
	if err != nil {
		return b.fault("written", err)
	}
	return nil
}

// unfitError tells that the state cannot be changed as somebody wishes, because of what it is.
type unfitError struct{ reason string }

func (e *unfitError) Error() string { return e.reason }

// look reads the state at one moment.
func (b *Book) look(ctx context.Context, do func(ctx context.Context, s state) error) error {
	if err := b.db.Snapshot(ctx, func(tx *sqldb.Tx) error { return do(ctx, state{tx}) }); err != nil {
		return b.fault("read", err)
	}
	return nil
}

func (s state) general(ctx context.Context) (g general, err error) {
	var text string
	if err := s.tx.Get(ctx, &text, "SELECT record FROM campaign"); err != nil {
		return g, err
	}
	return g, json.Unmarshal([]byte(text), &g)
}

// general changes what the state knows of the campaign as a whole.
func (s state) setGeneral(ctx context.Context, set func(*general)) error {
	g, err := s.general(ctx)
	if err != nil {
		return err
	}
	set(&g)
	text, err := json.Marshal(g)
	if err == nil {
		_, err = s.tx.Exec(ctx, "UPDATE campaign SET record = ?", string(text))
	}
	return err
}

// merge returns the record of a merge: a new one if there is none, or if the file has other
// worlds now and nothing was written.
func (s state) merge(ctx context.Context, m Merge) (*record, error) {
	r := &record{MergeStatus: MergeStatus{Worlds: m.Worlds, Phase: Waiting}}
	var text string
	err := s.tx.Get(ctx, &text, "SELECT record FROM merges WHERE merge = ?", m.Name())
	if errors.Is(err, sqldb.ErrNotFound) {
		return r, nil
	}
	old := new(record)
	if err == nil {
		err = json.Unmarshal([]byte(text), old)
	}
	if err == nil && (slices.Equal(old.Worlds, m.Worlds) || old.begun()) {
		return old, nil
	}
	return r, err
}

// set changes the record of a merge.
func (s state) set(ctx context.Context, m Merge, set func(*record)) error {
	r, err := s.merge(ctx, m)
	if err != nil {
		return err
	}
	set(r)
	return s.put(ctx, r)
}

func (s state) put(ctx context.Context, r *record) error {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = s.tx.Exec(ctx, "INSERT INTO merges (merge, record) VALUES (?, ?) ON CONFLICT (merge) DO UPDATE SET record = excluded.record", r.Name(), string(text))
	}
	return err
}

// records are those of all merges that the state knows, also of such as the file no longer has.
func (s state) records(ctx context.Context) (all map[string]*record, err error) {
	var texts []string
	if err := s.tx.Select(ctx, &texts, "SELECT record FROM merges"); err != nil {
		return nil, err
	}
	all = make(map[string]*record)
	for _, text := range texts {
		r := new(record)
		if err := json.Unmarshal([]byte(text), r); err != nil {
			return nil, err
		}
		all[r.Name()] = r
	}
	return all, nil
}

// event adds an event. The numbers have no gaps: a transaction that is rolled back takes none.
func (s state) event(ctx context.Context, at time.Time, kind, merge, text string) error {
	last, _, err := s.lastEvent(ctx)
	if err == nil {
		const insert = "INSERT INTO events (number, at, kind, merge, text) VALUES (?, ?, ?, ?, ?)"
		_, err = s.tx.Exec(ctx, insert, last+1, at.UnixMilli(), kind, merge, text)
	}
	return err
}

// lastEvent is the number of the last event, and when it was; 0 if there is none.
func (s state) lastEvent(ctx context.Context) (n int64, at time.Time, err error) {
	var last struct {
		Number int64 `db:"number"`
		Ms     int64 `db:"ms"`
	}
	err = s.tx.Get(ctx, &last, "SELECT COALESCE(MAX(number), 0) AS number, COALESCE(MAX(at), 0) AS ms FROM events")
	return last.Number, time.UnixMilli(last.Ms).UTC(), err
}

// rest records how the work on a merge ended, for now or for good.
func (r *record) rest(phase Phase, problem string, advice, reports []string) {
	r.idle()
	r.Phase, r.Problem, r.Advice = phase, problem, advice
	r.reported(reports)
}

// reported adds the names of reports.
func (r *record) reported(names []string) {
	for _, name := range names {
		if !slices.Contains(r.Reports, name) {
			r.Reports = append(r.Reports, name)
		}
	}
}
