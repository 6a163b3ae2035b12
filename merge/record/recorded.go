package record

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"mergesafe/merge/world"
)

// Recorded is a merge as the database that it made has it on record.
type Recorded struct {
	ID     string
	State  State
	Worlds []string // the names of the worlds
	Began  time.Time
}

// LastMerge returns the merge that made a database; nil if none did. Without a row in its record only ID and State
// are known. It only reads.
func LastMerge(ctx context.Context, d world.Database) (*Recorded, error) {
	on := &world.Connection{Database: d}
	defer on.Close()
	return RecordOf(ctx, on)
}

// RecordOf is [LastMerge] over a connection.
func RecordOf(ctx context.Context, on *world.Connection) (*Recorded, error) {
	m := Manifest{On: on}
	l, err := m.readLabel(ctx)
	if err != nil || l.ID == "" {
		return nil, err
	}
	r := &Recorded{ID: l.ID, State: l.state()}
	var document, began string
	err = m.On.Rows(ctx, "SELECT state, plan, CAST(began AS CHAR) FROM "+RecordTable, false, nil, func(row []any) (bool, error) {
		r.State, document, began = State(world.Text(row[0])), world.Text(row[1]), world.Text(row[2])
		return true, nil
	})
	if err != nil || document == "" {
		return r, err
	}
	var plan struct {
		Worlds []struct {
			Name string `json:"name"`
		} `json:"worlds"`
	}
	if err := json.Unmarshal([]byte(document), &plan); err != nil {
		return nil, fmt.Errorf("the plan of the merge %s: %w", r.ID, err)
	}
	for _, w := range plan.Worlds {
		r.Worlds = append(r.Worlds, w.Name)
	}
	if r.Began, err = time.Parse(beganLayout, began); err != nil {
		return nil, fmt.Errorf("the time of the merge %s: %w", r.ID, err)
	}
	return r, nil
}
