package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/store/registry"
)

// Status is the state of a merge, as [LookUp] found it.
type Status struct {
	ID    string       `json:"id"`
	State ledger.State `json:"state"`

	// Began is when the merge began, by the clock of the process that began it; nil if it did not.
	Began *time.Time `json:"began,omitempty"`

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
	return rowio.Total(s.Tables, func(t *TableStatus) int64 { return t.Copied })
}

// Removed is how many of the copied rows an undo removed.
func (s *Status) Removed() int64 {
	return rowio.Total(s.Tables, func(t *TableStatus) int64 { return t.Removed })
}

// LookUp returns the state of the merge of a plan. It only reads the checkpoints in the
// target and the registries of the sources, so it is quick, and may be called
// while [Apply] or [undo.Undo] runs elsewhere.
func LookUp(ctx context.Context, plan *plan.Plan, target rowio.Database, sources []rowio.Database) (*Status, error) {
	r, err := job.NewRun(plan, target, sources, job.Options{}, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.Target.Writes = false
	s, err := status(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("transfer: status: %w", err)
	}
	return s, nil
}

func status(ctx context.Context, r *job.Run) (*Status, error) {
	s := &Status{ID: r.Plan.ID, State: ledger.StateNone, Tables: []TableStatus{}}
	state, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	var own, copied, removed map[ledger.Place]int64
	if state != "" {
		s.State = state
		if s.Began, err = r.Manifest.Began(ctx); err != nil {
			return nil, err
		}
		if copied, err = r.Manifest.Checkpoints(ctx, ledger.StepCopy); err != nil {
			return nil, err
		}
		if removed, err = r.Manifest.Checkpoints(ctx, ledger.StepUndo); err != nil {
			return nil, err
		}
		if own, err = r.Manifest.Checkpoints(ctx, ledger.StepOwn); err != nil {
			return nil, err
		}
		own, copied, removed = ledger.Together(own), ledger.Together(copied), ledger.Together(removed)
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		at := TableStatus{Table: t.Name, Rows: t.Rows()}
		for _, w := range r.Plan.Sources {
			at.Copied += copied[ledger.Place{Source: w.Name, Table: t.Name}]
			at.Removed += removed[ledger.Place{Source: w.Name, Table: t.Name}]
		}
		if r.First != nil {
			at.Rows += t.Target.Rows
			at.Copied += own[ledger.Place{Source: r.First.Name, Table: t.Name}]
		}
		s.Tables = append(s.Tables, at)
	}
	if r.First != nil {
		for _, t := range r.Plan.Into.Tables {
			s.Tables = append(s.Tables, TableStatus{Table: t.Name, Rows: t.Content.Rows, Copied: own[ledger.Place{Source: r.First.Name, Table: t.Name}]})
		}
	}
	worlds := r.Worlds()
	for i, w := range r.Plan.Worlds() {
		if fences := w.Fence || i == 0 && r.First == nil && len(w.Servers) > 0; !fences {
			continue
		}
		now, err := ledger.Servers(ctx, worlds[i].Database)
		if err != nil {
			return nil, fmt.Errorf("database %q: %w", w.Name, err)
		}
		for _, server := range w.Servers {
			if at := slices.IndexFunc(now, func(n registry.Server) bool { return n.ID == server.Server }); server.Own && at >= 0 {
				s.Fences = append(s.Fences, FenceStatus{Source: w.Name, Server: server.Server.String(), Fenced: now[at].Fenced(r.Plan.ID)})
			}
		}
	}
	return s, nil
}
