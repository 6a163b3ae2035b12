package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// declaredStrangers refuses what [undo.strangers] cannot see: rows that did not come with
// the merge and name keys that did, by a reference that no database knows. planned are the
// tables that are exactly as the merge left them; nil if rows were removed already.
func (u *undo) declaredStrangers(ctx, soft context.Context, planned map[string]bool) (reasons []Refusal, err error) {
	if u.plan.Rekey == nil {
		return nil, nil
	}
	known, err := hasKeys(soft, u.target)
	if err != nil || !known {
		return nil, err // nothing was remembered, so that the merge was not completed
	}
	keys, err := loadKeys(soft, u.target, "path LIKE ?", []any{u.plan.ID + ".%"})
	if err != nil {
		return nil, err
	}
	for i := range u.plan.Rekey.Columns {
		c := &u.plan.Rekey.Columns[i]
		if _, there := u.keys[c.Table]; c.Key || planned[c.Table] || !there || u.plan.multiset(c.Table) && planned == nil {
			continue
		}
		found, err := u.namingWhatCame(ctx, soft, c, keys)
		if err != nil {
			return nil, err
		}
		if found.rows > 0 {
			which := ""
			if len(found.keys) > 0 {
				which = ": " + found.String()
			}
			reasons = append(reasons, Refusal{Source: u.target.Name, Table: c.Table, Reason: fmt.Sprintf("%s that did not come with the merge %s rows that did, by %s%s; let them name something else or remove them, then run undo again",
				printable.Count(found.rows, "row", "rows"), map[bool]string{true: "names", false: "name"}[found.rows == 1], c.Column, which)})
		}
	}
	return reasons, nil
}

// namingWhatCame finds the rows of one column.
func (u *undo) namingWhatCame(ctx, soft context.Context, c *merge.RekeyedColumn, keys []keySet) (*rowSamples, error) {
	found := new(rowSamples)
	d := u.target.dialect()
	l := u.naming(c.Table, []string{c.Column})
	if u.plan.table(c.Table) != nil && !u.plan.multiset(c.Table) {
		l = u.layouts[c.Table].keysOnly()
	}
	copied, err := u.copiedTo(soft, c.Table)
	if err != nil {
		return nil, err
	}
	query := "SELECT " + d.Quote(c.Column)
	for _, of := range c.Cases {
		condition := "NULL"
		if of.When != nil {
			condition = d.Quote(of.When.Column)
		}
		query += ", " + condition
	}
	for _, name := range l.reads {
		query += ", " + name
	}
	if u.plan.multiset(c.Table) { // so many came, as the plan counted them
		for i := range c.Cases {
			for _, n := range c.Cases[i].Counts[1:] {
				found.rows -= n.Resolved
			}
		}
	}
	names, err := namesWhatCame(c, keys)
	if err != nil {
		return nil, err
	}
	key := func(row []any) []any {
		switch {
		case !names(row):
			return nil
		case u.plan.multiset(c.Table):
			found.rows++
			return nil
		default:
			return row[1+len(c.Cases):]
		}
	}
	if err = u.strange(soft, l, query+" FROM "+d.Quote(c.Table)+" WHERE "+d.Quote(c.Column)+" IS NOT NULL", false, nil, key, copied, found); err == nil {
		err = u.between(ctx)
	}
	return found, err
}

// namesWhatCame returns what tells of a row whether it has a key that came, by its value and
// then those of the conditions of all cases.
func namesWhatCame(c *merge.RekeyedColumn, keys []keySet) (func(row []any) bool, error) {
	none := make([]rekey.Values, len(c.Cases))
	for i, of := range c.Cases {
		var err error
		if none[i], err = rekey.ParseValues(of.Zero, of.None); err != nil {
			return nil, err
		}
	}
	return func(row []any) bool {
		n, ok := rekey.ParseInteger(printed(row[0]))
		for i := 0; ok && i < len(c.Cases); i++ {
			of := &c.Cases[i]
			if none[i].HasInteger(n) || of.When != nil && !of.When.Holds(printed(row[1+i])) {
				continue
			}
			if slices.ContainsFunc(keys, func(k keySet) bool {
				old, ok := n.Sub(k.Offset)
				return ok && k.Space == of.Space && k.Keys.Has(old)
			}) {
				return true
			}
		}
		return false
	}, nil
}
