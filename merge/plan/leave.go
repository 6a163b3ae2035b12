package plan

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Leaving is what stays behind by the operator's statements, fixed when the plan is made.
type Leaving struct {
	Says  []verdict.Leave `json:"says"`
	Stays []Stays         `json:"stays"`

	// Shown is what a person looks at.
	Shown *verdict.Staying `json:"shown,omitempty"`
}

// Stays are the rows of a table of one world that stay behind, and their sum.
type Stays struct {
	*rules.Stays
	Sum    world.Sum `json:"sum"`
	Summed int64     `json:"-"` // how many rows Sum is of, while the plan is made
}

// Rows are how many stay behind; l may be nil.
func (l *Leaving) Rows() (n int64) {
	for i := 0; l != nil && i < len(l.Stays); i++ {
		n += l.Stays[i].Rows()
	}
	return n
}

// StaysOf are the rows of a table of a world that stay behind; nil if none may.
func (p *Plan) StaysOf(w, table string) *Stays {
	if p.Leaving == nil {
		return nil
	}
	return world.First(p.Leaving.Stays, func(s *Stays) bool { return s.World == w && s.Table == table })
}

// KeysThatStay are the keys of the rows of a table of a world that stay behind; nil if these are not known by
// keys.
func (p *Plan) KeysThatStay(world, table string) *keys.Set {
	if s := p.StaysOf(world, table); s != nil {
		return s.Keys
	}
	return nil
}

// WithheldOf are the conditions for the rows of a world that do not come, by table. Of the first world of a plan
// only those count that stay behind by the operator's statements; sifted are these again.
func (p *Plan) WithheldOf(w string, d world.Dialect) (all map[string]string, sifted map[string]world.Sifted) {
	all, sifted = make(map[string]string), make(map[string]world.Sifted)
	if w != p.Worlds[0].Name {
		all = p.Withheld(d)
	}
	if p.Leaving == nil {
		return all, sifted
	}
	for i := range p.Leaving.Stays {
		if s := &p.Leaving.Stays[i]; s.World == w && s.Rows() > 0 {
			sifted[s.Table] = world.Sifted{Rows: s.Stays, Others: all[s.Table]}
			all[s.Table] = strings.TrimPrefix(all[s.Table]+" OR "+s.SQL(d.Quote), " OR ")
		}
	}
	return all, sifted
}

// WithheldRows are the rows of a world that do not come, by its number.
func (p *Plan) WithheldRows(world int) (all []catalog.Withheld) {
	if world > 0 {
		all = p.RowsWithheld()
	}
	if p.Leaving == nil {
		return all
	}
	for _, s := range p.Leaving.Stays {
		if s.World == p.Worlds[world].Name && s.Rows() > 0 {
			all = append(all, s.Stays)
		}
	}
	return all
}

// validateLeaving returns an error unless the plan can be carried out, and makes its rows known to each other.
func (p *Plan) validateLeaving() error {
	if p.Leaving == nil {
		if slices.ContainsFunc(p.Severed, func(s rules.Severed) bool { return s.Partly }) {
			return fmt.Errorf("merge: the plan contradicts itself about the rows that stay behind")
		}
		return nil
	}
	var all []*rules.Stays
	for _, s := range p.Leaving.Stays {
		if s.Stays == nil || p.World(s.World) < 0 ||
			p.StaysOf(s.World, s.Table).Stays != s.Stays {
			return fmt.Errorf("merge: the plan contradicts itself about the rows that stay behind")
		}
		all = append(all, s.Stays)
	}
	if err := rules.Link(all); err != nil {
		return fmt.Errorf("merge: the plan contradicts itself: %w", err)
	}
	return nil
}
