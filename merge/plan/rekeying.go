package plan

import (
	"fmt"
	"slices"

	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// validateRekeying returns an error unless the offsets can be carried out.
func (p *Plan) validateRekeying() error {
	if p.Rekey == nil {
		return nil
	}
	for i := range p.Rekey.Columns {
		c := &p.Rekey.Columns[i]
		for j := range c.Cases {
			if _, err := p.Rekey.Shift(&c.Cases[j], ""); err != nil {
				return fmt.Errorf("merge: the plan contradicts itself: the values of %s.%s that mean no row: %w", c.Table, c.Column, err)
			}
			if c.Cases[j].Format == "" {
				continue
			}
			if err := world.ValidFormat(c.Cases[j].Format, c.Column); err != nil {
				return fmt.Errorf("merge: the plan contradicts itself: the format of %s.%s: %w", c.Table, c.Column, err)
			}
		}
	}
	for i := range p.Rekey.Spaces {
		if s := &p.Rekey.Spaces[i]; !slices.EqualFunc(s.Worlds, p.Worlds, func(of verdict.SpaceOf, w World) bool { return of.World == w.Name }) {
			return fmt.Errorf("merge: the plan contradicts itself in the space %q", s.Name)
		}
	}
	return nil
}

// NewKeys are Rekey; without columns and spaces if no keys get new values.
func (p *Plan) NewKeys() *verdict.Rekeying {
	if p.Rekey == nil {
		return new(verdict.Rekeying)
	}
	return p.Rekey
}

// Path is that of the keys of a world, in the record of the new database.
func (p *Plan) Path(world int) string { return fmt.Sprintf("%s.%d", p.ID, world) }
