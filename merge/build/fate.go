package build

import (
	"context"
	"fmt"

	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// Fate is what becomes of a row of a world in a merge. Keys are for people, as [world.KeyText] writes them; one that is not
// known is empty.
type Fate struct {
	OldWorld string `json:"old_world"`
	NewWorld string `json:"new_world,omitempty"`
	Table    string `json:"table,omitempty"`
	Column   string `json:"column,omitempty"` // of the names
	OldKey   string `json:"old_key,omitempty"`
	NewKey   string `json:"new_key,omitempty"`
	OldName  string `json:"old_name,omitempty"`
	NewName  string `json:"new_name,omitempty"`

	Stays string `json:"stays,omitempty"` // why the row stays behind: there is no new world, name or key
}

// EachFate calls each with the rows whose names change by a plan, in its order, and then with those that stay behind, of
// tables whose key is one column of integers: of others the plan has no list. No database is read.
func EachFate(p *plan.Plan, each func(Fate) error) error {
	for i := range p.Renames {
		if err := each(fateOf(p, &p.Renames[i])); err != nil {
			return err
		}
	}
	if p.Leaving == nil {
		return nil
	}
	for _, s := range p.Leaving.Stays {
		for _, why := range s.Why {
			if why.Keys == nil {
				continue
			}
			for key := range why.Keys.Keys() {
				if err := each(Fate{OldWorld: s.World, Table: s.Table, OldKey: key.String(), Stays: why.Why}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fateOf is that of a row that gets a new name. Only the first world keeps its keys for certain.
func fateOf(p *plan.Plan, r *plan.Rename) Fate {
	first := p.Worlds[0].Name
	f := Fate{OldWorld: r.Source, NewWorld: first, Table: r.Table, Column: r.Column, OldKey: world.KeyText(r.Key), OldName: r.Old, NewName: r.New}
	if r.Source == first {
		f.NewKey = f.OldKey
	}
	return f
}

// EachFateOf calls each with every row of a table, with the values of a column such as that of names: of all worlds but the
// first, and of that those that stay behind or whose names change. It reads the worlds, which have to be as they were when the
// plan was made; memory does not grow with them.
func EachFateOf(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database, table, column string, codecs keys.Codecs, each func(Fate) error) error {
	first := p.Worlds[0].Name
	for i := range p.Worlds {
		f := Fate{OldWorld: p.Worlds[i].Name, Table: table, Column: column}
		var err error
		if i > 0 {
			err = eachMoved(ctx, p, into, worlds, i, table, column, codecs, func(m movedRow) error {
				came := f
				came.NewWorld, came.OldKey, came.NewKey, came.OldName, came.NewName = first, m.OldKey, m.NewKey, m.Old, m.New
				return each(came)
			})
		}
		if err == nil {
			err = eachStayed(ctx, p, into, worlds, i, table, column, func(key, name, why string) error {
				stayed := f
				stayed.OldKey, stayed.OldName, stayed.Stays = key, name, why
				return each(stayed)
			})
		}
		if err != nil {
			return fmt.Errorf("transfer: the rows of table %q of %q: %w", table, p.Worlds[i].Name, err)
		}
	}
	for i := range p.Renames {
		if r := &p.Renames[i]; r.Source == first && r.Table == table && r.Column == column {
			if err := each(fateOf(p, r)); err != nil {
				return err
			}
		}
	}
	return nil
}
