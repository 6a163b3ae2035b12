package transfer

import (
	"fmt"

	"mergesafe/merge"
)

// run is one call of [Apply], [Undo], [Verify] or [LookUp], or one worker of it:
// see [run.inParallel].
type run struct {
	opts     Options
	hooks    hooks
	plan     *Plan
	changes  *changes
	target   *connection
	sources  []*connection
	manifest *manifest
	layouts  map[string]*layout // how a table is read and written, as the target has it
	registry bool               // the target has one

	// references are those of the target's tables, and keys how their rows are found
	// by their keys, by table.
	references map[string][]merge.Reference
	keys       map[string]*layout
	clocked    map[string][]string // columns that an UPDATE may set without being told

	committed int64 // transactions; shows [run.retry] that the work gets on

	lifted []Lifted // the fences that this call lifted
	notes  []string // what the operator should know, though it worked

	seen    *seenKeys // shared by all workers
	tally   *tally    // this, too
	counted int64     // rows of this worker's part that are in the tally
	noted   bool      // the rows that an earlier call did of this part are in the tally
}

// newRun makes a run. The databases are given in the order of the plan.
func newRun(p *Plan, target Database, sources []Database, opts Options, h hooks) (*run, error) {
	if err := p.validate(); err != nil {
		return nil, err
	}
	if target.Name != p.Target.Name || len(sources) != len(p.Sources) {
		return nil, fmt.Errorf("transfer: the plan is for %q and %d sources, got %q and %d", p.Target.Name, len(p.Sources), target.Name, len(sources))
	}
	on := &connection{Database: target, writes: true, fail: h.fail}
	r := &run{opts: opts.withDefaults(), hooks: h.withDefaults(), plan: p, changes: newChanges(p, opts.Codecs), target: on, manifest: &manifest{on: on, id: p.ID},
		layouts: make(map[string]*layout), seen: newSeenKeys(), tally: new(tally)}
	for i, d := range sources {
		if d.Name != p.Sources[i].Name {
			return nil, fmt.Errorf("transfer: the plan has %q where %q is given: want the databases in the order of the plan", p.Sources[i].Name, d.Name)
		}
		from := &connection{Database: d, fail: h.fail}
		from.withheld = p.withheld(from.dialect())
		r.sources = append(r.sources, from)
	}
	return r, nil
}

// know takes what the target says of its tables.
func (r *run) know(s *source) {
	r.registry = s.catalog.HasRegistry
	r.references, r.clocked = make(map[string][]merge.Reference), make(map[string][]string)
	r.keys = make(map[string]*layout)
	for i := range s.catalog.Tables {
		t := &s.catalog.Tables[i]
		r.references[t.Name], r.keys[t.Name] = t.References, newLayout(s.dialect, t)
		for _, c := range t.Columns {
			if s.dialect.mysql() && c.Generated == "" && clocked(c.Type) {
				r.clocked[t.Name] = append(r.clocked[t.Name], c.Name)
			}
		}
		if r.plan.table(t.Name) != nil {
			r.layouts[t.Name] = newLayout(s.dialect, t)
		}
		if r.plan.reset(t.Name) != nil {
			r.layouts[t.Name] = resetLayout(s.dialect, t)
		}
	}
}

// reader returns a second connection to the target, which reads ahead while the
// first one writes.
func (r *run) reader() *connection {
	return &connection{Database: r.target.Database, db: r.target.db, fail: r.target.fail, shared: true}
}

func (r *run) close() {
	r.target.close()
	for _, c := range r.sources {
		c.close()
	}
}

// drop closes all connections; the next use opens them again.
func (r *run) drop() {
	r.target.drop()
	for _, c := range r.sources {
		c.drop()
	}
}
