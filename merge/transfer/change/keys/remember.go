package keys

import (
	"context"
	"fmt"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/change/keys/matched"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// remember records the keys of the worlds that got new ones, and what these remember of theirs, when
// all rows were copied. The first world keeps its keys; what it remembers came with its tables.
func remember(ctx context.Context, r *job.Run) error {
	if r.Plan.Rekey == nil {
		return nil
	}
	if _, err := r.New.Exec(ctx, "create", ledger.CreateKeys(r.New.Dialect()), false); err != nil {
		return err
	}
	for i := 1; i < len(r.Worlds); i++ {
		src := r.Worlds[i]
		var all []ledger.KeySet
		for _, c := range r.Plan.Rekey.Columns {
			if !c.Key {
				continue
			}
			k, err := keysOf(ctx, r, i, &c)
			if err != nil {
				return err
			}
			all = append(all, *k)
		}
		matches := matched.Own(r, i)
		known, err := ledger.HasKeys(ctx, src)
		if err != nil {
			return err
		}
		if known {
			theirs, err := ledger.LoadKeys(ctx, src, "", nil)
			if err != nil {
				return err
			}
			brought, err := matched.Brought(ctx, r, i, theirs)
			if err != nil {
				return err
			}
			matches = append(matches, brought...)
			for _, k := range theirs {
				k.Path = r.Plan.Path(i) + " " + k.Path
				all = append(all, k)
			}
		}
		for i := range all {
			if err := ledger.SaveKeys(ctx, r.New, &all[i], r.Hooks.Clock()); err != nil {
				return err
			}
		}
		if err := matched.Save(ctx, r, i, matches); err != nil {
			return err
		}
	}
	return makeKeysView(ctx, r)
}

// keysOf returns the keys of one column of a world, and reads them unless all came by
// while they were copied.
func keysOf(ctx context.Context, r *job.Run, world int, c *verdict.RekeyedColumn) (*ledger.KeySet, error) {
	src, space := r.Worlds[world], r.Plan.Rekey.Space(c.Cases[0].Space)
	k := &ledger.KeySet{Path: r.Plan.Path(world), Source: src.Name, Table: c.Table, Column: c.Column, Space: space.Name,
		Offset: space.Worlds[world].Offset, Range: space.Worlds[world].New, Keys: &rekey.Set{Exact: true}}
	if r.Plan.Table(c.Table) == nil || r.Plan.Table(c.Table).Only { // no row came
		k.Keys.Finish()
		return k, nil
	}
	if seen := r.Seen.All(world, c.Table, c.Column, r.Plan.Table(c.Table).Worlds[world].Rows); seen != nil {
		k.Keys = seen
		return k, nil
	}
	d := src.Dialect()
	err := src.Rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+rowio.Where(src.Comes(c.Table)), false, nil, func(row []any) (bool, error) {
		n, ok := rekey.ParseInteger(rowio.Printed(row[0]))
		if !ok {
			return false, fmt.Errorf("%s.%s has a key that is not an integer", c.Table, c.Column)
		}
		k.Keys.Add(n)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the keys of table %q of %q: %w", c.Table, src.Name, err)
	}
	k.Keys.Finish()
	return k, nil
}

// makeKeysView makes the view. A plan makes sure that the account may, and that the name is free.
func makeKeysView(ctx context.Context, r *job.Run) error {
	matches, err := ledger.HasMatches(ctx, r.New)
	if err != nil {
		return err
	}
	for _, statement := range ledger.CreateKeysView(r.New.Dialect(), matches) {
		if _, err := r.New.Exec(ctx, "create", statement, false); err != nil {
			return fmt.Errorf("making the view %s: %w", ledger.KeysView, err)
		}
	}
	return nil
}
