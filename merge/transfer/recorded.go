package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Recorded is a merge as its target has it on record.
type Recorded struct {
	ID      string
	State   State
	Sources []string // the names of the worlds that came
	Began   time.Time
}

// LastMerge returns the merge into a database that was begun last, and was not undone; nil
// if there is none. It only reads.
func LastMerge(ctx context.Context, target Database) (*Recorded, error) {
	m := manifest{on: &connection{Database: target}}
	defer m.on.close()
	var err error
	if m.id, err = m.last(ctx); err != nil || m.id == "" {
		return nil, err
	}
	var fields [3]string
	for i, column := range []string{"state", "plan", "CAST(began AS CHAR)"} {
		found, err := m.ask(ctx, "SELECT "+column+" FROM "+MergesTable+" WHERE id = ?", m.id)
		if err != nil || len(found) == 0 {
			return nil, err // it was undone meanwhile
		}
		fields[i] = found[0]
	}
	r := &Recorded{ID: m.id, State: State(fields[0])}
	var plan struct {
		Sources []struct {
			Name string `json:"name"`
		} `json:"sources"`
	}
	if err := json.Unmarshal([]byte(fields[1]), &plan); err != nil {
		return nil, fmt.Errorf("the plan of the merge %s: %w", m.id, err)
	}
	for _, s := range plan.Sources {
		r.Sources = append(r.Sources, s.Name)
	}
	if r.Began, err = time.Parse(beganLayout, fields[2]); err != nil {
		return nil, fmt.Errorf("the time of the merge %s: %w", m.id, err)
	}
	return r, nil
}
