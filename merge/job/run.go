package job

import (
	"context"
	"fmt"

	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Run is one call of [build.Apply], [build.Undo], [prove.Verify] or [build.LookUp], or one worker of it:
// see [Run.InParallel].
type Run struct {
	Opts     Options
	Hooks    Hooks
	Plan     *plan.Plan
	Changes  *mapping.Mapping
	New      *world.Connection // the database that the merge makes
	Worlds   []*world.Connection
	Manifest *record.Manifest
	Layouts  map[string]*world.Layout // how a table is read and written, as the new database has it
	Registry bool                     // the new database has one
	Full     map[string]bool          // tables that an earlier call filled

	// Anew: read a file again if another process changed it meanwhile, and so find out which one: a game server, or the fence
	// of another merge. A proof does not: its reads are of one moment.
	Anew bool

	Keys map[string]*world.Layout // how the rows of a table are found by their keys

	Committed int64 // transactions; shows [Run.Retry] that the work gets on

	Began  bool     // something was written that a later refusal leaves as it is
	Lifted []Lifted // the fences that this call lifted
	Notes  []string // what the operator should know, though it worked

	Seen    *record.SeenKeys // shared by all workers
	Tally   *Tally           // this, too
	counted int64            // rows of this worker's part that are in the tally
	apart   bool             // the databases are different ones
}

// Lifted is a server whose fence was lifted.
type Lifted struct {
	Database string `json:"database"`
	Server   string `json:"server"`
}

// NewRun makes a run. The worlds are given in the order of the plan.
func NewRun(p *plan.Plan, into world.Database, worlds []world.Database, opts Options, h Hooks) (*Run, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if into.Name != p.New.Name || len(worlds) != len(p.Worlds) {
		return nil, fmt.Errorf("merge: the plan is for %q and %d worlds, got %q and %d", p.New.Name, len(p.Worlds), into.Name, len(worlds))
	}
	on := &world.Connection{Database: into, Writes: true, Fail: h.Fail}
	r := &Run{Opts: opts.withDefaults(), Hooks: h.withDefaults(), Plan: p, Changes: mapping.NewMapping(p, opts.Codecs), New: on, Manifest: &record.Manifest{On: on, ID: p.ID, Try: opts.Try},
		Seen: record.NewSeenKeys(), Tally: &Tally{progress: opts.Progress, retrying: opts.Retrying, parts: make(map[record.Place]int64)}}
	r.Changes.Planned = true
	for i, d := range worlds {
		if d.Name != p.Worlds[i].Name {
			return nil, fmt.Errorf("merge: the plan has %q where %q was given: want the worlds in the order of the plan", p.Worlds[i].Name, d.Name)
		}
		from := &world.Connection{Database: d, Fail: h.Fail}
		from.Withheld, from.Sifted = p.WithheldOf(d.Name, from.Dialect())
		r.Worlds = append(r.Worlds, from)
	}
	return r, nil
}

// Know takes what a database with the tables of the new one says of them: that one, or the first world.
func (r *Run) Know(s *world.World) {
	r.Registry = s.Known.HasRegistry
	r.Keys, r.Layouts = make(map[string]*world.Layout), make(map[string]*world.Layout)
	for i := range s.Known.Tables {
		t := &s.Known.Tables[i]
		r.Keys[t.Name] = world.NewLayout(s.Dialect, t)
		if r.Plan.Table(t.Name) != nil {
			r.Layouts[t.Name] = world.NewLayout(s.Dialect, t)
		}
	}
}

// Progress reports that a step did more rows.
func (r *Run) Progress(step, database, table string, rows int) {
	r.counted += int64(rows)
	r.Tally.did(step, database, table, int64(rows))
}

// Over is the run with another connection to the new database, the only one that can read its tables: one after another.
func (r *Run) Over(on *world.Connection) *Run {
	by := *r
	by.New, by.Opts.Parallel = on, 1
	return &by
}

// Count counts the rows of a table of the new database.
func (r *Run) Count(ctx context.Context, table string) (int64, error) {
	return r.New.Number(ctx, "SELECT COUNT(*) FROM "+r.New.Dialect().Quote(table), false)
}

func (r *Run) Close() {
	r.New.Close()
	for _, c := range r.Worlds {
		c.Close()
	}
}

// drop closes all connections; the next use opens them again.
func (r *Run) drop() {
	r.New.Drop()
	for _, c := range r.Worlds {
		c.Drop()
	}
}
