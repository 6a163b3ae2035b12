package undo

import (
	"context"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change/origin"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// strangers finds the rows of a table of the target that reference rows which the
// merge copied to another one, and did not come with the merge themselves.
func (u *undo) strangers(ctx, soft context.Context, table int, from string, by catalog.Reference) (*rowio.RowSamples, error) {
	found, to := new(rowio.RowSamples), u.Layouts[u.Plan.Tables[table].Name]
	d := to.Dialect
	ref := &rowio.Layout{Dialect: d, Table: from, Columns: by.Columns}
	var columns []int
	for i, name := range by.ToColumns {
		at := slices.Index(to.Columns, name)
		if at < 0 {
			return found, nil
		}
		number := to.Numbers[at]
		if number != nil && number.Members != nil { // the other table may list its members in another order
			number = nil
		}
		ref.Key, columns, ref.Numbers = append(ref.Key, i), append(columns, at), append(ref.Numbers, number)
	}
	rows := u.Naming(from, by.Columns)
	if u.Plan.Table(from) != nil {
		rows = u.Layouts[from].KeysOnly()
	}
	came, err := u.copiedTo(soft, from)
	if err != nil {
		return nil, err
	}
	if any, err := u.Target.Number(soft, "SELECT COUNT(*) FROM (SELECT 1 FROM "+d.Quote(from)+" LIMIT 1) AS t", false); err != nil || any == 0 {
		return found, err
	}
	size := d.Most(len(columns))
	for i, src := range u.Sources {
		copied, err := u.CheckpointsOf(soft, ledger.StepCopy, table, i)
		if err != nil {
			return nil, err
		}
		change := u.Changes.Of(src.Name, to)
		for _, c := range copied {
			after := c.Begin
			for left := c.Rows; left > 0; {
				if err := u.Between(ctx); err != nil {
					return nil, err
				}
				p, err := rowio.ReadPage(soft, u.Sources[i], to, after, int(min(left, int64(size))), nil)
				if err != nil || len(p.Rows) == 0 {
					return found, err
				}
				left -= int64(len(p.Rows))
				after = to.KeyOf(p.Rows[len(p.Rows)-1])
				if err := change.Rows(p.Rows); err != nil {
					return nil, err
				}
				if p.Rows, err = u.freshOf(soft, table, i, p.Rows); err != nil {
					return nil, err
				}
				if len(p.Rows) == 0 {
					continue
				}
				var args []any
				for _, row := range p.Rows {
					key := make([]any, len(columns))
					for i, c := range columns {
						key[i] = row[c]
					}
					args = append(args, ref.Bound(key)...)
				}
				query := rows.SelectFrom() + " WHERE " + ref.Equal(len(p.Rows))
				if err := u.strange(soft, rows, query, len(p.Rows) == size, args, nil, came, found); err != nil {
					return nil, err
				}
			}
		}
	}
	return found, nil
}

// copiedTo is how far a table was copied, of each source; nothing for one that is not.
func (u *undo) copiedTo(ctx context.Context, table string) ([][]*ledger.Checkpoint, error) {
	copied := make([][]*ledger.Checkpoint, len(u.Sources))
	at := slices.IndexFunc(u.Plan.Tables, func(t plan.Table) bool { return t.Name == table })
	for i := 0; i < len(copied) && at >= 0; i++ {
		var err error
		if copied[i], err = u.CheckpointsOf(ctx, ledger.StepCopy, at, i); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// strange adds the rows of a query on the target that did not come with the merge. key, if
// not nil, returns what of a row is its key; nil for a row that does not count.
func (u *undo) strange(ctx context.Context, l *rowio.Layout, query string, keep bool, args []any, key func(row []any) []any, copied [][]*ledger.Checkpoint, found *rowio.RowSamples) error {
	var page [][]any
	check := func() error {
		came, err := u.came(ctx, l, page, copied)
		for i, row := range page {
			if err == nil && !came[i] {
				found.Add(l, row)
			}
		}
		page = page[:0]
		return err
	}
	most := l.Dialect.Most(len(l.Key))
	err := u.Target.Rows(ctx, query, keep, args, func(row []any) (bool, error) {
		if key != nil {
			if row = key(row); row == nil {
				return true, nil
			}
		}
		row = slices.Clone(row)
		l.Tidy(row)
		if page = append(page, row); len(page) < most {
			return true, nil
		}
		return true, check()
	})
	if err != nil {
		return err
	}
	return check()
}

// came tells which rows of the target have the key of a row that was copied there,
// by the checkpoints of each source; none for a table that is not copied.
func (u *undo) came(ctx context.Context, l *rowio.Layout, rows [][]any, copied [][]*ledger.Checkpoint) ([]bool, error) {
	came := make([]bool, len(rows))
	if len(rows) == 0 {
		return came, nil
	}
	for i, src := range u.Sources {
		condition, args := rowsCopied(l, copied[i])
		if condition == "" {
			continue
		}
		olds, at, err := origin.Before(u.Changes, u.Plan, i, l, rows)
		if err != nil {
			return nil, err
		}
		if len(olds) == 0 {
			continue
		}
		there, err := rowio.Find(ctx, src, l, l.SelectFrom()+rowio.Where("("+l.Equal(len(olds))+")", "("+condition+")", src.Comes(l.Table)), olds, args...)
		if err != nil {
			return nil, err
		}
		for i, row := range there {
			came[at[i]] = came[at[i]] || row != nil
		}
	}
	return came, nil
}

// rowsCopied is the condition for the rows of a source that were copied, by its
// checkpoints, with its arguments; empty if there are none.
func rowsCopied(l *rowio.Layout, all []*ledger.Checkpoint) (condition string, args []any) {
	var ways []string
	for i := 0; i < len(all); i++ {
		begin, end := all[i].Begin, all[i].After
		if all[i].Rows == 0 {
			continue
		}
		for ; all[i].Finished && i+1 < len(all) && all[i+1].Rows > 0; i++ {
			end = all[i+1].After
		}
		way, until := l.After(end)
		if way = "NOT (" + way + ")"; begin != nil {
			from, more := l.After(begin)
			way, args = from+" AND "+way, append(args, more...)
		}
		ways, args = append(ways, way), append(args, until...)
	}
	return strings.Join(ways, " OR "), args
}
