package build

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/sqldb"

	"mergesafe/internal/worldregistry"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Status is the state of a merge, as [LookUp] found it.
type Status struct {
	ID    string       `json:"id"`
	State record.State `json:"state"`

	// Lost says that there is no record of the merge though its fences say that it was opened: the new database is gone,
	// or under another name.
	Lost bool `json:"lost,omitempty"`

	// Behind says that the new database is a copy from before the merge was opened, as its fences say it was.
	Behind bool `json:"behind,omitempty"`

	// Tried says that a rehearsal has come to its end.
	Tried bool `json:"tried,omitempty"`

	// Closed says that the opened database lets no game server start: an undo closed it, and runs or was interrupted.
	Closed bool `json:"closed,omitempty"`

	// Later says to which later merge the opened database went as a world; "" if to none that is known.
	Later string `json:"later,omitempty"`

	// Begun tells this beginning of the merge from others by the same plan: see [UndoOptions]. It is empty if there is no record.
	Begun string `json:"-"`

	// Began is when the merge began, by the clock of the process that began it; nil if it did not.
	Began *time.Time `json:"began,omitempty"`

	// Tables are those of the plan, in their order there.
	Tables []TableStatus `json:"tables"`

	// Fences are the servers of the worlds that the plan fences.
	Fences []FenceStatus `json:"fences,omitempty"`
}

// TableStatus is the state of one table.
type TableStatus struct {
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`   // planned
	Copied int64  `json:"copied"` // so far
}

// FenceStatus says whether one server is fenced.
type FenceStatus struct {
	World  string `json:"world"`
	Server string `json:"server"`
	Fenced bool   `json:"fenced"`
}

// Copied is how many rows were copied, of all tables together.
func (s *Status) Copied() int64 {
	return world.Total(s.Tables, func(t *TableStatus) int64 { return t.Copied })
}

// Fenced reports whether a world has a fence of the merge.
func (s *Status) Fenced() bool {
	return slices.ContainsFunc(s.Fences, func(f FenceStatus) bool { return f.Fenced })
}

// Unfenced reports whether a world that the plan fences has no fence of the merge.
func (s *Status) Unfenced() bool {
	return slices.ContainsFunc(s.Fences, func(f FenceStatus) bool { return !f.Fenced })
}

// LookUp returns the state of the merge of a plan. It only reads the checkpoints in the
// new database and the registries of the worlds, so it is quick, and may be called
// while [Apply] or [build.Undo] runs elsewhere.
func LookUp(ctx context.Context, plan *plan.Plan, into world.Database, worlds []world.Database) (*Status, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
	r, err := job.NewRun(plan, into, worlds, job.Options{}, job.Hooks{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.New.Writes = false
	s, err := status(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("merge: status: %w", err)
	}
	return s, nil
}

func status(ctx context.Context, r *job.Run) (*Status, error) {
	s := &Status{ID: r.Plan.ID, State: record.StateNone, Tables: []TableStatus{}}
	recorded, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	state, err := r.Later(ctx, recorded)
	if err != nil {
		return nil, err
	}
	s.Behind = state != recorded
	if state == record.StateOpen {
		if s.Later, err = later(ctx, r); err != nil {
			return nil, err
		}
		servers, err := entriesOf(ctx, r)
		if err != nil {
			return nil, err
		}
		s.Closed = slices.ContainsFunc(servers, func(e entry) bool { return e.fence.Merge == r.Plan.ID })
	}
	copied := make(map[record.Place]int64)
	if state != "" {
		s.State, s.Begun = state, r.Manifest.Begun
		s.Tried = state == record.StateTried && r.Manifest.Ended(record.StateTried)
		if s.Began, err = r.Manifest.Began(ctx); err != nil {
			return nil, err
		}
		done, err := r.Manifest.Checkpoints(ctx)
		if err != nil {
			return nil, err
		}
		for at, c := range done {
			copied[record.Place{World: at.World, Table: at.Table}] += c.Rows
		}
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		at := TableStatus{Table: t.Name, Rows: t.Rows()}
		for _, w := range r.Plan.Worlds {
			at.Copied += copied[record.Place{World: w.Name, Table: t.Name}]
		}
		s.Tables = append(s.Tables, at)
	}
	for i, w := range r.Plan.Worlds {
		if !w.Fence || state == record.StateTried { // a rehearsal has fenced nothing
			continue
		}
		now, other, err := record.Another(ctx, w, r.Worlds[i].Database)
		if err != nil {
			return nil, err
		}
		if other != "" {
			return nil, fmt.Errorf("database %q: %s", w.Name, other)
		}
		for _, server := range w.Servers {
			if at := slices.IndexFunc(now, func(n worldregistry.Server) bool { return n.ID == server.Server }); server.Own && at >= 0 {
				s.Fences = append(s.Fences, FenceStatus{World: w.Name, Server: server.Server.String(), Fenced: now[at].Fenced(r.Plan.ID)})
			}
		}
	}
	if state == "" {
		s.State, err = unrecorded(ctx, r)
		s.Lost = s.State == record.StateOpening
	}
	return s, err
}

// unrecorded is the state of a merge of which there is no record.
func unrecorded(ctx context.Context, r *job.Run) (record.State, error) {
	say, err := r.FencesSay(ctx)
	if err != nil || say == record.StateOpening || say == record.StateUndoing {
		return say, err
	}
	if how, err := moved(ctx, r); err != nil || how != "" {
		return record.StatePlanAgain, err
	}
	return record.StateNone, nil
}
