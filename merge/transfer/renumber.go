package transfer

import (
	"context"
	"slices"
	"strconv"

	"mergesafe/merge"
)

// renumber plans the rows that get other values in a column, which the check found.
func (p *planner) renumber(context.Context) error {
	for _, n := range p.plan.Renumbered {
		t := p.dbs[0].table(n.Table)
		if t == nil || !slices.ContainsFunc(p.plan.Tables, func(of Table) bool { return of.Name == n.Table }) {
			continue // it is refused
		}
		for _, row := range n.Rows {
			key, err := keyOf(t, row.Key)
			if err != nil {
				return err
			}
			text, err := encodeKey(key)
			if err != nil {
				return err
			}
			r := Rename{Source: row.Source, Table: n.Table, Column: n.Column, Key: text, Old: strconv.FormatInt(row.Old, 10), New: strconv.FormatInt(row.New, 10)}
			if i := slices.IndexFunc(p.plan.Sources, func(w World) bool { return w.Name == row.Source }); i >= 0 {
				if j := slices.IndexFunc(p.plan.Sources[i].Servers, func(s merge.Server) bool { return s.Own }); j >= 0 {
					r.World = p.plan.Sources[i].Servers[j].World
				}
			}
			p.plan.Renames = append(p.plan.Renames, r)
		}
	}
	return nil
}
