package change

import (
	"slices"
	"strconv"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
)

// renumber plans the rows that get other values in a column, which the check found.
func renumber(p *renaming) error {
	for _, n := range p.Plan.Renumbered {
		t := p.DBs[0].Table(n.Table)
		if t == nil || !slices.ContainsFunc(p.Plan.Tables, func(of plan.Table) bool { return of.Name == n.Table }) {
			continue // it is refused
		}
		for _, row := range n.Rows {
			text, err := nameKeyText(t, row.Key)
			if err != nil {
				return err
			}
			r := plan.Rename{Source: row.World, Table: n.Table, Column: n.Column, Key: text, Old: strconv.FormatInt(row.Old, 10), New: strconv.FormatInt(row.New, 10)}
			if i := p.Plan.World(row.World); i >= 0 {
				if j := slices.IndexFunc(p.Plan.Worlds[i].Servers, func(s catalog.Server) bool { return s.Own }); j >= 0 {
					r.World = p.Plan.Worlds[i].Servers[j].World
				}
			}
			p.Plan.Renames = append(p.Plan.Renames, r)
		}
	}
	return nil
}
