package job

import (
	"cmp"
	"slices"
	"sync"
)

// Changed is a table of a world that a rehearsal found with other rows than the plan did: another number of them, or
// other values.
type Changed struct {
	World string `json:"world"`
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // now, and
	Want  int64  `json:"want"` // when the plan was made
}

// changed are those of a run, over all workers.
type changed struct {
	mu  sync.Mutex
	all []Changed
}

// NoteChanged notes that a table of a world has other rows than planned.
func (r *Run) NoteChanged(c Changed) {
	r.changed.mu.Lock()
	defer r.changed.mu.Unlock()
	r.changed.all = append(r.changed.all, c)
}

// AllChanged are those noted, in the order of the plan's worlds and then by table.
func (r *Run) AllChanged() []Changed {
	r.changed.mu.Lock()
	defer r.changed.mu.Unlock()
	return slices.SortedFunc(slices.Values(r.changed.all), func(a, b Changed) int {
		return cmp.Or(r.Plan.World(a.World)-r.Plan.World(b.World), cmp.Compare(a.Table, b.Table))
	})
}
