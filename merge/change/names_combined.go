package change

import (
	"context"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
)

// joined is a row that becomes one with another, which gives the name.
type joined struct{ row, into named }

// joinedRows returns the rows of a table that is combined whose names do not come: of those with one key, the first world
// that has it gives the name, or the last one, as the formula of the column says. A row without a name is left out.
func (p *renaming) joinedRows(ctx context.Context, n *plan.NamePolicy, t *catalog.Table) (all []joined, err error) {
	c := p.Resolved.Combined[n.Table]
	if c == nil {
		return nil, nil
	}
	var scans []check.SourceScan
	var dbs []int // by scan
	for i, s := range p.DBs {
		if s.Table(n.Table) == nil {
			continue
		}
		scan := catalog.Scan{Table: n.Table, Order: catalog.OrderBy(t.Key(), t), Carry: append([]string{n.Column}, t.Key()...)}
		for k := range scan.Order {
			if of := p.Plan.Rekey.Column(n.Table, scan.Order[k].Column); of != nil && i > 0 {
				if scan.Order[k].Shift, err = p.Plan.Rekey.Shift(&of.Cases[0], s.Name()); err != nil {
					return nil, err
				}
			}
		}
		scan.Order = append(scan.Order, catalog.Order{Column: n.Column, Collation: t.Column(n.Column).Collation})
		scans, dbs = append(scans, check.SourceScan{Source: s, Scan: scan}), append(dbs, i)
	}
	for rows, err := range check.EqualRows(ctx, scans, len(t.Key())) {
		if err != nil {
			return nil, err
		}
		slices.SortFunc(rows, func(a, b check.EqualRow) int { return a.From - b.From })
		if c.Formula(n.Column).Op == rules.FormulaLast {
			slices.Reverse(rows)
		}
		group := make([]named, len(rows))
		for i, r := range rows {
			if group[i], err = namedBy(t, dbs[r.From], r, r.Order[len(t.Key())]); err != nil {
				return nil, err
			}
			if i > 0 && r.Carry[0] != nil {
				all = append(all, joined{group[i], group[0]})
			}
		}
	}
	return all, nil
}

// nameJoined plans that rows of all worlds which become one have one name, so that what names them follows. called are the new
// names of rows.
func (p *renaming) nameJoined(n *plan.NamePolicy, all []joined, called map[rowOf]string, homes namesakes) {
	none := p.Resolved.Declared.NoNames(n.Table, n.Column)
	for _, a := range all {
		name, renamed := called[a.into.rowOf]
		if !renamed {
			name = a.into.name
		}
		switch {
		case name == a.row.name:
			continue
		case name == "" || none.Has([]byte(name)):
			if len(p.followersOf(n)) > 0 {
				p.RefuseValues(n.Table, "the row that is %q in %q has no %s in %q, so references to it would refer to no row: give it one", a.row.name, p.DBs[a.row.db].Name(), n.Column, p.DBs[a.into.db].Name())
			}
			continue
		}
		homes.add([]named{a.row})
		homes.rename(a.row, p.renameOf(n, a.row, name)).joined = true
	}
}
