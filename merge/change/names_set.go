package change

import (
	"fmt"

	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// unchangeable says why a policy of names cannot change rows; "" if it can.
func (p *renaming) unchangeable(n *plan.NamePolicy) string {
	if why := p.Resolved.Unchangeable(n.Table, n.Column); why != "" {
		return why
	}
	for _, s := range n.Set {
		if why := p.Resolved.Unchangeable(n.Table, s.Column); why != "" {
			return "set: " + why
		}
		for _, db := range p.DBs[1:] {
			if t := db.Table(n.Table); t != nil && t.Column(s.Column) == nil {
				return fmt.Sprintf("set: %q has no column %s", db.Name(), s.Column)
			}
		}
	}
	return ""
}

// set plans what other columns of a row get when its name is changed.
func (p *renaming) set(n *plan.NamePolicy, row named, r plan.Rename) error {
	for i, s := range n.Set {
		if row.set[i] == nil {
			p.RefuseIn(r.Source, r.Table, "row %s gets a new %s, but its column %s, which [[merge.name]] sets with it, is NULL: give it a value", world.KeyText(r.Key), n.Column, s.Column)
			return nil
		}
		to := r
		to.Column, to.Old = s.Column, string(row.set[i])
		var err error
		if to.New, err = s.Of(to.Old); err != nil {
			p.RefuseIn(r.Source, r.Table, "row %s gets a new %s, and its column %s, which [[merge.name]] sets with it: %v", world.KeyText(r.Key), n.Column, s.Column, err)
			return nil
		}
		if to.New != to.Old {
			p.Plan.Renames = append(p.Plan.Renames, to)
		}
	}
	return nil
}
