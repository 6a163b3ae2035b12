package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mergesafe/merge/transfer/rowio"
)

// Recorded is a merge as the database that it made has it on record.
type Recorded struct {
	ID     string
	State  State
	Worlds []string // the names of the worlds
	Began  time.Time
}

// LastMerge returns the merge that made a database, or of its history the one that was begun last; nil
// if there is none. It only reads.
func LastMerge(ctx context.Context, d rowio.Database) (*Recorded, error) {
	m := Manifest{On: &rowio.Connection{Database: d}}
	defer m.On.Close()
	var err error
	if m.ID, err = m.last(ctx); err != nil || m.ID == "" {
		return nil, err
	}
	var fields [3]string
	for i, column := range []string{"state", "plan", "CAST(began AS CHAR)"} {
		found, err := m.Ask(ctx, "SELECT "+column+" FROM "+MergesTable+" WHERE id = ?", m.ID)
		if err != nil || len(found) == 0 {
			return nil, err // it was undone meanwhile
		}
		fields[i] = found[0]
	}
	r := &Recorded{ID: m.ID, State: State(fields[0])}
	var plan struct {
		Worlds []struct {
			Name string `json:"name"`
		} `json:"worlds"`
	}
	if err := json.Unmarshal([]byte(fields[1]), &plan); err != nil {
		return nil, fmt.Errorf("the plan of the merge %s: %w", m.ID, err)
	}
	for _, w := range plan.Worlds {
		r.Worlds = append(r.Worlds, w.Name)
	}
	if r.Began, err = time.Parse(beganLayout, fields[2]); err != nil {
		return nil, fmt.Errorf("the time of the merge %s: %w", m.ID, err)
	}
	return r, nil
}
