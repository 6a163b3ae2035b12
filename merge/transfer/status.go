package transfer

import (
	"context"
	"fmt"

	"mergesafe/store"
)

// State is where a merge is.
type State string

// The states of a merge. Those between StateNone and StateCopied can be gone on
// with by [Apply], or taken back by [Undo].
const (
	StateNone      State = "none"         // the target knows nothing of it: not begun, or undone
	StatePreparing State = statePreparing // the plan is being noted in the target; nothing was copied
	StateCopying   State = stateCopying
	StateCopied    State = stateCopied  // it came to its end
	StateUndoing   State = stateUndoing // [Undo] began, and goes on by another call
)

// Status is where a merge is, as [LookUp] found it.
type Status struct {
	ID    string `json:"id"`
	State State  `json:"state"`

	// Tables are those of the plan, in their order there.
	Tables []TableStatus `json:"tables"`

	// Fences are the servers of the sources that the plan keeps from being
	// started.
	Fences []FenceStatus `json:"fences,omitempty"`
}

// TableStatus is how far one table is.
type TableStatus struct {
	Table   string `json:"table"`
	Rows    int64  `json:"rows"`    // to be copied
	Copied  int64  `json:"copied"`  // those that were
	Removed int64  `json:"removed"` // of those, by an undo
}

// FenceStatus tells of one server of a source whether the fence is there.
type FenceStatus struct {
	Source string `json:"source"`
	Server string `json:"server"`
	Fenced bool   `json:"fenced"`
}

// Copied and Removed are the rows of all tables together.
func (s *Status) Copied() (n int64) {
	for _, t := range s.Tables {
		n += t.Copied
	}
	return n
}

// Removed is how many of the rows that were copied were removed by an undo.
func (s *Status) Removed() (n int64) {
	for _, t := range s.Tables {
		n += t.Removed
	}
	return n
}

// LookUp tells where the merge of a plan is. It only reads the notes in the
// target and the registries of the sources, so it is quick, and may be called
// while [Apply] or [Undo] runs elsewhere.
func LookUp(ctx context.Context, plan *Plan, target Database, sources []Database) (*Status, error) {
	r := &run{opts: Options{Patience: -1}.withDefaults()}
	defer r.close()
	if err := r.open(plan, target, sources); err != nil {
		return nil, err
	}
	r.target.writes = false
	s := &Status{ID: plan.ID, State: StateNone}
	state, err := r.manifest.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("transfer: status: %w", err)
	}
	if state != "" {
		s.State = State(state)
	}
	for i := range plan.Tables {
		t := &plan.Tables[i]
		at := TableStatus{Table: t.Name, Rows: t.Rows()}
		for _, w := range plan.Sources {
			for step, n := range map[string]*int64{StepCopy: &at.Copied, StepUndo: &at.Removed} {
				if state == "" {
					continue // there are no notes
				}
				m, err := r.manifest.mark(ctx, step, w.Name, t.Name)
				if err != nil {
					return nil, fmt.Errorf("transfer: status: %w", err)
				}
				*n += m.rows
			}
		}
		s.Tables = append(s.Tables, at)
	}
	for i, w := range plan.Sources {
		if !w.Fence {
			continue
		}
		if s.Fences, err = fences(ctx, sources[i], w, plan.ID, s.Fences); err != nil {
			return nil, fmt.Errorf("transfer: status: %w", err)
		}
	}
	return s, nil
}

// fences adds the fences of one source.
func fences(ctx context.Context, d Database, w World, token string, all []FenceStatus) ([]FenceStatus, error) {
	db, err := store.OpenReadOnly(ctx, d.DSN)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	defer db.Close()
	now, err := db.Registry().Servers(ctx)
	if err != nil {
		return nil, fmt.Errorf("database %q: %w", d.Name, err)
	}
	for _, s := range w.Servers {
		for i := range now {
			if s.Own && now[i].ID == s.Server {
				all = append(all, FenceStatus{Source: d.Name, Server: s.Server.String(), Fenced: now[i].Fenced(token)})
			}
		}
	}
	return all, nil
}
