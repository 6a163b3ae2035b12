package record

import (
	"context"
	"fmt"

	"mergesafe/merge/world"
)

// Planned is what the plan of a merge says of a key of a world. One of Why and Became is set.
type Planned struct {
	Source string `json:"source"`
	Table  string `json:"table"`
	Key    string `json:"key"`
	Why    string `json:"why,omitempty"`    // the row stayed behind
	Became string `json:"became,omitempty"` // the key has this value now, if the world had it
	Merge  string `json:"merge"`
}

// ByPlan says whether the row with a key of a table of a world stayed behind by a merge that the database has on record,
// last merges first. Keys that are not one column of integers have no record but the plan: of these it also says what
// they became. They are written as [keys.Key.String] does. It returns nil if no plan says anything, and an error if
// one does not know whether the row stayed behind. Only that database is read.
func ByPlan(ctx context.Context, merged world.Database, source, table, key string) (*Planned, error) {
	m := &Manifest{On: &world.Connection{Database: merged}}
	defer m.On.Close()
	ids, err := m.Ask(ctx, "SELECT id FROM "+allMerges+" ORDER BY began DESC, id")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		m.ID = id
		p, err := m.plan(ctx)
		if err != nil || p == nil {
			return nil, err
		}
		found := &Planned{source, table, key, "", "", id}
		if found.Why, err = p.Stayed(source, table, key); err == nil && found.Why == "" {
			if err = m.readRenames(ctx, p); err == nil {
				found.Became, err = p.Became(source, table, key)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("transfer: %s %s of %s: %w  (merge %s)", table, key, source, err, id)
		}
		if found.Why+found.Became != "" {
			return found, nil
		}
	}
	return nil, nil
}
