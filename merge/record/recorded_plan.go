package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// ErrPartOfPlan says that the record of a merge does not have all of its plan.
var ErrPartOfPlan = errors.New("the record of the merge contains only a part of its plan")

// RecordedPlan returns the plan of a merge as the database that it made has it on record, for when the file is
// lost: id is that of the plan, or empty for the merge that made the database. It only reads. It
// returns nil if there is no such merge: it was not begun, or was undone.
//
// The plan is complete, or the error is an [ErrPartOfPlan]: then its ID does not fit. So it is
// for a merge with very many matched keys ([rules.Space.Match]) that has not come to its end, and for one that was stopped
// as soon as the record was there.
func RecordedPlan(ctx context.Context, into world.Database, id string) (*plan.Plan, error) {
	m := &Manifest{On: &world.Connection{Database: into}, ID: id}
	defer m.On.Close()
	part := func() error {
		return fmt.Errorf("merge: database %q: the merge %s: %w", into.Name, m.ID, ErrPartOfPlan)
	}
	l, err := m.readLabel(ctx)
	if m.ID = cmp.Or(id, l.ID); err != nil || m.ID == "" {
		return nil, err
	}
	p, err := m.plan(ctx)
	if err == nil && p == nil && l.ID == m.ID { // it was stopped before it wrote the plan, or an undo was after that was dropped
		err = part()
	}
	if err != nil || p == nil {
		return nil, err
	}
	if err := m.readRenames(ctx, p); err != nil {
		return nil, err
	}
	if p.ID == m.ID && p.Version == plan.PlanVersion && p.ID != p.Fingerprint() {
		return nil, part()
	}
	return p, p.Validate()
}

// plan reads the plan without its renames; nil if there is none.
func (m *Manifest) plan(ctx context.Context) (*plan.Plan, error) {
	found, err := m.Ask(ctx, "SELECT plan FROM "+allMerges+" WHERE id = ?", m.ID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	p := new(plan.Plan)
	if err := json.Unmarshal([]byte(found[0]), p); err != nil {
		return nil, fmt.Errorf("merge: the plan of the merge %s in %q: %w", m.ID, m.On.Database.Name, err)
	}
	return p, m.readMatches(ctx, p)
}

// readRenames puts the renames of the record into a plan.
func (m *Manifest) readRenames(ctx context.Context, p *plan.Plan) error {
	p.Renames = []plan.Rename{}
	const query = "SELECT source, world, tab, col, row_key, old_value, new_value FROM " + RenamesTable + " WHERE merge_id = ? ORDER BY n"
	return m.On.Rows(ctx, query, false, []any{m.ID}, func(row []any) (bool, error) {
		p.Renames = append(p.Renames, plan.Rename{Source: world.Text(row[0]), World: world.Text(row[1]), Table: world.Text(row[2]), Column: world.Text(row[3]), Key: world.Text(row[4]), Old: world.Text(row[5]), New: world.Text(row[6])})
		return true, nil
	})
}

// readMatches puts the matched keys into a plan of which they are recorded in their own table,
// where they are once the merge is completed.
func (m *Manifest) readMatches(ctx context.Context, p *plan.Plan) error {
	if known, err := HasMatches(ctx, m.On); err != nil || !known || p.Rekey == nil {
		return err
	}
	for i := range p.Rekey.Spaces {
		s := &p.Rekey.Spaces[i]
		for k := range s.Worlds {
			if s.Worlds[k].Matched != nil {
				continue
			}
			var pairs []keys.Pair
			const query = "SELECT old_key, new_key FROM " + MatchesTable + " WHERE path = ? AND space = ? ORDER BY old_key"
			err := m.On.Rows(ctx, query, false, []any{fmt.Sprintf("%s.%d", m.ID, k), s.Name}, func(row []any) (bool, error) {
				old, ok := keys.ParseInteger(world.Printed(row[0]))
				image, also := keys.ParseInteger(world.Printed(row[1]))
				if !ok || !also {
					return false, fmt.Errorf("a matched key of %s is not an integer", s.Name)
				}
				pairs = append(pairs, keys.Pair{Old: old, New: image})
				return true, nil
			})
			if err != nil {
				return err
			}
			if len(pairs) == 0 {
				continue
			}
			pairs = slices.Compact(pairs) // one for each key column of the space
			if s.Worlds[k].Matched, err = keys.NewPairs(pairs); err != nil {
				return err
			}
		}
	}
	return nil
}
