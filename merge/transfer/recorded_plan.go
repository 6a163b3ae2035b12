package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mergesafe/merge/rekey"
)

// ErrPartOfPlan says that the record of a merge does not have all of its plan.
var ErrPartOfPlan = errors.New("the record of the merge has only a part of its plan")

// RecordedPlan returns the plan of a merge as its target has it on record, for when the file is
// lost: id is that of the plan, or empty for the merge that was begun last. It only reads. It
// returns nil if there is no such merge: it was not begun, or was undone.
//
// The plan is complete, or the error is an [ErrPartOfPlan]: then its ID does not fit. So it is
// for a merge with matched keys ([merge.Space.Match]) that has not come to its end, if an older
// program began it, or if there are very many of them.
func RecordedPlan(ctx context.Context, target Database, id string) (*Plan, error) {
	m := &manifest{on: &connection{Database: target}, id: id}
	defer m.on.close()
	if id == "" {
		var err error
		if m.id, err = m.last(ctx); err != nil || m.id == "" {
			return nil, err
		}
	}
	found, err := m.ask(ctx, "SELECT plan FROM "+MergesTable+" WHERE id = ?", m.id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	p := new(Plan)
	if err := json.Unmarshal([]byte(found[0]), p); err != nil {
		return nil, fmt.Errorf("transfer: the plan of the merge %s in %q: %w", m.id, target.Name, err)
	}
	if err := m.readRenames(ctx, p); err != nil {
		return nil, err
	}
	if err := m.readMatches(ctx, p); err != nil {
		return nil, err
	}
	if p.ID == m.id && p.Version == PlanVersion && p.ID != p.fingerprint() {
		return nil, fmt.Errorf("transfer: database %q: the merge %s: %w", target.Name, m.id, ErrPartOfPlan)
	}
	return p, p.validate()
}

// readRenames puts the renames of the record into a plan.
func (m *manifest) readRenames(ctx context.Context, p *Plan) error {
	p.Renames = []Rename{}
	const query = "SELECT source, world, tab, col, row_key, old_value, new_value FROM " + RenamesTable + " WHERE merge_id = ? ORDER BY n"
	return m.on.rows(ctx, query, false, []any{m.id}, func(row []any) (bool, error) {
		p.Renames = append(p.Renames, Rename{Source: text(row[0]), World: text(row[1]), Table: text(row[2]), Column: text(row[3]), Key: text(row[4]), Old: text(row[5]), New: text(row[6])})
		return true, nil
	})
}

// readMatches puts the matched keys into a plan of which they are recorded in their own table,
// where they are once the merge is completed.
func (m *manifest) readMatches(ctx context.Context, p *Plan) error {
	if known, err := hasMatches(ctx, m.on); err != nil || !known || p.Rekey == nil {
		return err
	}
	for i := range p.Rekey.Spaces {
		s := &p.Rekey.Spaces[i]
		for k := range s.Sources {
			if s.Sources[k].Matched != nil {
				continue
			}
			var pairs []rekey.Pair
			const query = "SELECT old_key, new_key FROM " + MatchesTable + " WHERE path = ? AND space = ? ORDER BY old_key"
			err := m.on.rows(ctx, query, false, []any{fmt.Sprintf("%s.%d", m.id, k), s.Name}, func(row []any) (bool, error) {
				old, ok := rekey.ParseInteger(printed(row[0]))
				image, also := rekey.ParseInteger(printed(row[1]))
				if !ok || !also {
					return false, fmt.Errorf("a matched key of %s is not an integer", s.Name)
				}
				pairs = append(pairs, rekey.Pair{Old: old, New: image})
				return true, nil
			})
			if err != nil {
				return err
			}
			if len(pairs) == 0 {
				continue
			}
			pairs = slices.Compact(pairs) // one for each key column of the space
			if s.Sources[k].Matched, err = rekey.NewPairs(pairs); err != nil {
				return err
			}
		}
	}
	return nil
}
