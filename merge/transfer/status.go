package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/store/registry"
)

// State is the state of a merge.
type State string

// The states of a merge. [Apply] resumes StatePreparing and StateCopying, [Undo] takes
// back all except StateNone.
const (
	StateNone      State = "none"      // not begun, or undone
	StatePreparing State = "preparing" // the plan is being written to the target; nothing was copied
	StateCopying   State = "copying"
	StateCopied    State = "copied"  // completed
	StateUndoing   State = "undoing" // [Undo] began, and resumes
)

// Status is the state of a merge, as [LookUp] found it.
type Status struct {
	ID    string `json:"id"`
	State State  `json:"state"`

	// Tables are those of the plan, in their order there.
	Tables []TableStatus `json:"tables"`

	// Fences are the target's own servers, which are fenced until the merge is
	// completed or undone, and the servers of the sources that the plan fences.
	Fences []FenceStatus `json:"fences,omitempty"`
}

// TableStatus is the state of one table.
type TableStatus struct {
	Table   string `json:"table"`
	Rows    int64  `json:"rows"`    // planned
	Copied  int64  `json:"copied"`  // so far
	Removed int64  `json:"removed"` // of these, by an undo
}

// FenceStatus says whether one server is fenced.
type FenceStatus struct {
	Source string `json:"source"` // or the target
	Server string `json:"server"`
	Fenced bool   `json:"fenced"`
}

// Copied is how many rows were copied, of all tables together.
func (s *Status) Copied() int64 {
	return total(s.Tables, func(t *TableStatus) int64 { return t.Copied })
}

// Removed is how many of the copied rows an undo removed.
func (s *Status) Removed() int64 {
	return total(s.Tables, func(t *TableStatus) int64 { return t.Removed })
}

// LookUp returns the state of the merge of a plan. It only reads the checkpoints in the
// target and the registries of the sources, so it is quick, and may be called
// while [Apply] or [Undo] runs elsewhere.
func LookUp(ctx context.Context, plan *Plan, target Database, sources []Database) (*Status, error) {
	r, err := newRun(plan, target, sources, Options{}, hooks{})
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.target.writes = false
	s, err := r.status(ctx)
	if err != nil {
		return nil, fmt.Errorf("transfer: status: %w", err)
	}
	return s, nil
}

func (r *run) status(ctx context.Context) (*Status, error) {
	s := &Status{ID: r.plan.ID, State: StateNone, Tables: []TableStatus{}}
	state, err := r.manifest.load(ctx)
	if err != nil {
		return nil, err
	}
	var copied, removed map[place]int64
	if state != "" {
		s.State = state
		if copied, err = r.manifest.checkpoints(ctx, StepCopy); err != nil {
			return nil, err
		}
		if removed, err = r.manifest.checkpoints(ctx, StepUndo); err != nil {
			return nil, err
		}
		copied, removed = together(copied), together(removed)
	}
	for i := range r.plan.Tables {
		t := &r.plan.Tables[i]
		at := TableStatus{Table: t.Name, Rows: t.Rows()}
		for _, w := range r.plan.Sources {
			at.Copied += copied[place{source: w.Name, table: t.Name}]
			at.Removed += removed[place{source: w.Name, table: t.Name}]
		}
		s.Tables = append(s.Tables, at)
	}
	for i, w := range r.plan.worlds() {
		on := r.target
		if i > 0 {
			on = r.sources[i-1]
		}
		if fences := w.Fence || i == 0 && len(w.Servers) > 0; !fences {
			continue
		}
		now, err := servers(ctx, on.Database)
		if err != nil {
			return nil, fmt.Errorf("database %q: %w", w.Name, err)
		}
		for _, server := range w.Servers {
			if at := slices.IndexFunc(now, func(n registry.Server) bool { return n.ID == server.Server }); server.Own && at >= 0 {
				s.Fences = append(s.Fences, FenceStatus{Source: w.Name, Server: server.Server.String(), Fenced: now[at].Fenced(r.plan.ID)})
			}
		}
	}
	return s, nil
}
