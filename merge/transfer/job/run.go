package job

import (
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Run is one call of [apply.Apply], [undo.Undo], [prove.Verify] or [apply.LookUp], or one worker of it:
// see [Run.InParallel].
type Run struct {
	Opts     Options
	Hooks    Hooks
	Plan     *plan.Plan
	Changes  *change.Changes
	Target   *rowio.Connection // the database that the rows come to
	First    *rowio.Connection // the first world, if that one is new; else nil
	Sources  []*rowio.Connection
	Manifest *ledger.Manifest
	Layouts  map[string]*rowio.Layout // how a table is read and written, as the target has it
	Registry bool                     // the target has one

	// References are those of the target's tables, and keys how their rows are found
	// by their keys, by table.
	References map[string][]catalog.Reference
	Keys       map[string]*rowio.Layout
	Clocked    map[string][]string // columns that an UPDATE may set without being told

	Committed int64 // transactions; shows [Run.Retry] that the work gets on

	Lifted []Lifted // the fences that this call lifted
	Notes  []string // what the operator should know, though it worked

	Seen    *ledger.SeenKeys // shared by all workers
	Tally   *tally           // this, too
	counted int64            // rows of this worker's part that are in the tally
	noted   bool             // the rows that an earlier call did of this part are in the tally
}

// NewRun makes a run. The databases are given in the order of the plan.
func NewRun(p *plan.Plan, target rowio.Database, sources []rowio.Database, opts Options, h Hooks) (*Run, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	origins := p.Origins()
	if target.Name != p.Place() || len(sources) != len(origins) {
		return nil, fmt.Errorf("transfer: the plan is for %q and %d sources, got %q and %d", p.Place(), len(origins), target.Name, len(sources))
	}
	on := &rowio.Connection{Database: target, Writes: true, Fail: h.Fail}
	r := &Run{Opts: opts.withDefaults(), Hooks: h.withDefaults(), Plan: p, Changes: change.NewChanges(p, opts.Codecs), Target: on, Manifest: &ledger.Manifest{On: on, ID: p.ID},
		Layouts: make(map[string]*rowio.Layout), Seen: ledger.NewSeenKeys(), Tally: new(tally)}
	for i, d := range sources {
		if d.Name != origins[i].Name {
			return nil, fmt.Errorf("transfer: the plan has %q where %q is given: want the databases in the order of the plan", origins[i].Name, d.Name)
		}
		from := &rowio.Connection{Database: d, Fail: h.Fail}
		from.Withheld, from.Sifted = p.WithheldOf(d.Name, from.Dialect())
		if i == 0 && p.Into != nil {
			r.First = from
			continue
		}
		r.Sources = append(r.Sources, from)
	}
	return r, nil
}

// Know takes what the target says of its tables.
func (r *Run) Know(s *rowio.Source) {
	r.Registry = s.Known.HasRegistry
	r.References, r.Clocked = make(map[string][]catalog.Reference), make(map[string][]string)
	r.Keys = make(map[string]*rowio.Layout)
	for i := range s.Known.Tables {
		t := &s.Known.Tables[i]
		r.References[t.Name], r.Keys[t.Name] = t.References, rowio.NewLayout(s.Dialect, t)
		for _, c := range t.Columns {
			if s.Dialect.MySQL() && c.Generated == "" && Clocked(c.Type) {
				r.Clocked[t.Name] = append(r.Clocked[t.Name], c.Name)
			}
		}
		if r.Plan.Table(t.Name) != nil || r.Plan.Own(t.Name) != nil {
			r.Layouts[t.Name] = rowio.NewLayout(s.Dialect, t)
		}
		if r.Plan.Reset(t.Name) != nil {
			r.Layouts[t.Name] = ResetLayout(s.Dialect, t)
		}
	}
}

// Reader returns a second connection to the target, which reads ahead while the
// first one writes.
func (r *Run) Reader() *rowio.Connection {
	return &rowio.Connection{Database: r.Target.Database, DB: r.Target.DB, Fail: r.Target.Fail, Shared: true}
}

// Origins are the connections to [plan.Plan.Origins].
func (r *Run) Origins() []*rowio.Connection {
	if r.First == nil {
		return r.Sources
	}
	return append([]*rowio.Connection{r.First}, r.Sources...)
}

// Worlds are the connections to [plan.Plan.Worlds], as they were before the merge: a target that
// rows come to is the first of them.
func (r *Run) Worlds() []*rowio.Connection {
	if r.First == nil {
		return append([]*rowio.Connection{r.Target}, r.Sources...)
	}
	return r.Origins()
}

func (r *Run) Close() {
	r.Target.Close()
	for _, c := range r.Origins() {
		c.Close()
	}
}

// drop closes all connections; the next use opens them again.
func (r *Run) drop() {
	r.Target.Drop()
	for _, c := range r.Origins() {
		c.Drop()
	}
}
