package transfer

import "fmt"

// unchangeable says why a policy of names cannot change rows; "" if it can.
func (p *planner) unchangeable(n *NamePolicy) string {
	if why := p.dbs[0].catalog.Unchangeable(n.Table, n.Column); why != "" {
		return why
	}
	for _, s := range n.Set {
		if why := p.dbs[0].catalog.Unchangeable(n.Table, s.Column); why != "" {
			return "set: " + why
		}
		for _, db := range p.dbs[1:] {
			if t := db.table(n.Table); t != nil && column(t, s.Column) == nil {
				return fmt.Sprintf("set: %q has no column %s", db.Name(), s.Column)
			}
		}
	}
	return ""
}

// set plans what other columns of a row get when its name is changed.
func (p *planner) set(n *NamePolicy, row named, r Rename) error {
	for i, s := range n.Set {
		if row.set[i] == nil {
			p.refuse(Refusal{Source: r.Source, Table: r.Table, Reason: fmt.Sprintf("row %s gets a new %s, and its column %s, which [[merge.name]] sets with it, holds NULL: give it a value", KeyText(r.Key), n.Column, s.Column)})
			return nil
		}
		to := r
		to.Column, to.Old = s.Column, string(row.set[i])
		var err error
		if to.New, err = s.Of(to.Old); err != nil {
			p.refuse(Refusal{Source: r.Source, Table: r.Table, Reason: fmt.Sprintf("row %s gets a new %s, and its column %s, which [[merge.name]] sets with it: %v", KeyText(r.Key), n.Column, s.Column, err)})
			return nil
		}
		if to.New != to.Old {
			p.plan.Renames = append(p.plan.Renames, to)
		}
	}
	return nil
}
