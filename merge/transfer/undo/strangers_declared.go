package undo

import (
	"context"
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// declaredStrangers refuses what [undo.strangers] cannot see: rows that did not come with
// the merge and name keys that did, by a reference that no database knows. planned are the
// tables that are exactly as the merge left them; nil if rows were removed already.
func (u *undo) declaredStrangers(ctx, soft context.Context, planned map[string]bool) error {
	if u.Plan.Rekey == nil {
		return nil
	}
	known, err := ledger.HasKeys(soft, u.Target)
	if err != nil || !known {
		return err // nothing was remembered, so that the merge was not completed
	}
	keys, err := ledger.LoadKeys(soft, u.Target, "path LIKE ?", []any{u.Plan.ID + ".%"})
	if err != nil {
		return err
	}
	for i := range u.Plan.Rekey.Columns {
		c := &u.Plan.Rekey.Columns[i]
		if _, there := u.Keys[c.Table]; c.Key || planned[c.Table] || !there || u.Plan.Multiset(c.Table) && planned == nil {
			continue
		}
		found, err := u.namingWhatCame(ctx, soft, c, keys)
		if err != nil {
			return err
		}
		if found.Rows > 0 {
			which := ""
			if len(found.Keys) > 0 {
				which = ": " + found.String()
			}
			u.Refuse(c.Table, "%s that did not come with the merge %s rows that did, by %s%s; let them name other rows or remove them, then run undo again",
				printable.Count(found.Rows, "row", "rows"), map[bool]string{true: "names", false: "name"}[found.Rows == 1], c.Column, which)
		}
	}
	return nil
}

// namingWhatCame finds the rows of one column.
func (u *undo) namingWhatCame(ctx, soft context.Context, c *verdict.RekeyedColumn, keys []ledger.KeySet) (*rowio.RowSamples, error) {
	found := new(rowio.RowSamples)
	d := u.Target.Dialect()
	l := u.Naming(c.Table, []string{c.Column})
	if u.Plan.Table(c.Table) != nil && !u.Plan.Multiset(c.Table) {
		l = u.Layouts[c.Table].KeysOnly()
	}
	copied, err := u.copiedTo(soft, c.Table)
	if err != nil {
		return nil, err
	}
	naming, err := job.NewNaming(c, keys, u.Opts.Codecs)
	if err != nil {
		return nil, err
	}
	names := slice.Map(naming.Columns, d.Quote)
	query := "SELECT " + strings.Join(append(names, l.Reads...), ", ")
	if u.Plan.Multiset(c.Table) { // so many came, as the plan counted them
		for i := range c.Cases {
			for _, n := range c.Cases[i].Counts[1:] {
				found.Rows -= n.Resolved
			}
		}
	}
	key := func(row []any) []any {
		switch {
		case !naming.Names(row):
			return nil
		case u.Plan.Multiset(c.Table):
			found.Rows++
			return nil
		default:
			return row[len(naming.Columns):]
		}
	}
	if err = u.strange(soft, l, query+" FROM "+d.Quote(c.Table)+" WHERE "+d.Quote(c.Column)+" IS NOT NULL", false, nil, key, copied, found); err == nil {
		if naming.Broken != nil {
			return nil, fmt.Errorf("transfer: undo: database %q, table %q: row %s: %s: %w", u.Target.Name, c.Table, naming.At, c.Column, naming.Broken)
		}
		err = u.Between(ctx)
	}
	return found, err
}
