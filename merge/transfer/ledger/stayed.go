package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Stayed is a row that stayed behind in its world by a merge.
type Stayed struct {
	Source string        `json:"source"`
	Table  string        `json:"table"`
	Key    rekey.Integer `json:"key"`
	Why    string        `json:"why"`
	Merge  string        `json:"merge"`
}

// WhyStayed looks whether the row with a key of a table of a world stayed behind by a merge that the target has on
// record; nil if it did not, or if the plan does not know the rows of the table by keys. Only the target is read.
func WhyStayed(ctx context.Context, target rowio.Database, source, table string, key rekey.Integer) (found *Stayed,
	err error) {
	m := &Manifest{On: &rowio.Connection{Database: target}}
	defer m.On.Close()
	if last, err := m.last(ctx); err != nil || last == "" {
		return nil, err
	}
	err = m.On.Rows(ctx, "SELECT id, plan FROM "+MergesTable+" ORDER BY began DESC, id", false, nil,
		func(row []any) (bool, error) {
			p := new(plan.Plan)
			if err := json.Unmarshal([]byte(rowio.Text(row[1])), p); err != nil {
				return false, fmt.Errorf("transfer: the plan of the merge %s in %q: %w", rowio.Text(row[0]), target.Name, err)
			}
			if s := p.StaysOf(source, table); s != nil {
				for _, why := range s.Why {
					if why.Keys != nil && why.Keys.Has(key) {
						found = &Stayed{source, table, key, why.Why, rowio.Text(row[0])}
					}
				}
			}
			return found == nil, nil
		})
	return found, err
}
