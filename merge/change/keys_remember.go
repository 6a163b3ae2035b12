package change

import (
	"context"
	"fmt"

	"mergesafe/merge/keys"

	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// rememberKeys records the keys of the worlds that got new ones, and what these remember of theirs, when
// all rows were copied. The first world keeps its keys; what it remembers came with its tables.
func rememberKeys(ctx context.Context, r *job.Run) error {
	records := r.Plan.Rekey != nil
	for i := 1; i < len(r.Worlds); i++ {
		known, err := record.HasKeys(ctx, r.Worlds[i])
		if err != nil {
			return err
		}
		if !known && r.Plan.Rekey == nil {
			continue
		}
		if err := rememberKeysOf(ctx, r, i, known); err != nil {
			return err
		}
		records = true
	}
	if !records {
		return nil
	}
	return makeKeysView(ctx, r)
}

// rememberKeysOf is [rememberKeys] of a world. known says that it has such a record itself.
func rememberKeysOf(ctx context.Context, r *job.Run, world int, known bool) error {
	var all []record.KeySet
	for _, c := range r.Plan.NewKeys().Columns {
		if !c.Key {
			continue
		}
		k, err := oldKeysOf(ctx, r, world, &c)
		if err != nil {
			return err
		}
		all = append(all, *k)
	}
	matches := Own(r, world)
	if known {
		theirs, err := record.LoadKeys(ctx, r.Worlds[world], "", nil)
		if err != nil {
			return err
		}
		brought, err := Brought(ctx, r, world, theirs)
		if err != nil {
			return err
		}
		matches = append(matches, brought...)
		for _, k := range theirs {
			k.Path = r.Plan.Path(world) + " " + k.Path
			all = append(all, k)
		}
	}
	if _, err := r.New.Exec(ctx, "create", record.CreateKeys(r.New.Dialect()), false); err != nil {
		return err
	}
	for i := range all {
		if err := record.SaveKeys(ctx, r.New, &all[i], r.Hooks.Clock()); err != nil {
			return err
		}
	}
	return Save(ctx, r, world, matches)
}

// oldKeysOf returns the keys of one column of a world, and reads them unless all came by
// while they were copied.
func oldKeysOf(ctx context.Context, r *job.Run, w int, c *verdict.RekeyedColumn) (*record.KeySet, error) {
	src, space := r.Worlds[w], r.Plan.Rekey.Space(c.Cases[0].Space)
	k := &record.KeySet{Path: r.Plan.Path(w), Source: src.Name, Table: c.Table, Column: c.Column, Space: space.Name,
		Offset: space.Worlds[w].Offset, Range: space.Worlds[w].New, Keys: &keys.Set{Exact: true}}
	if r.Plan.Table(c.Table) == nil || r.Plan.Table(c.Table).Only { // no row came
		k.Keys.Finish()
		return k, nil
	}
	if seen := r.Seen.All(w, c.Table, c.Column, r.Plan.Table(c.Table).Worlds[w].Rows); seen != nil {
		k.Keys = seen
		return k, nil
	}
	d := src.Dialect()
	err := src.Rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+world.Where(src.Comes(c.Table)), false, nil, func(row []any) (bool, error) {
		n, ok := keys.ParseInteger(world.Printed(row[0]))
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
	matches, err := record.HasMatches(ctx, r.New)
	if err != nil {
		return err
	}
	for _, statement := range record.CreateKeysView(r.New.Dialect(), matches) {
		if _, err := r.New.Exec(ctx, "create", statement, false); err != nil {
			return fmt.Errorf("making the view %s: %w", record.KeysView, err)
		}
	}
	return nil
}
