package change

import (
	"context"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
)

// Own are the matched keys of a world.
func Own(r *job.Run, world int) (all []plan.Match) {
	for _, s := range r.Plan.NewKeys().Spaces {
		for _, at := range r.Plan.MatchColumns(s.Name) {
			for old, image := range s.Worlds[world].Matched.All() {
				all = append(all, plan.Match{Path: r.Plan.Path(world), Source: r.Plan.Worlds[world].Name, Table: at.Table, Column: at.Column, Space: s.Name, Old: old, Image: image, Here: image})
			}
		}
	}
	return all
}

// Brought are matched keys that a world remembers itself, and keys that came to it and are
// matched now.
func Brought(ctx context.Context, r *job.Run, world int, theirs []record.KeySet) (all []plan.Match, err error) {
	src := r.Worlds[world]
	if err := record.LoadMatches(ctx, src, theirs); err != nil {
		return nil, err
	}
	for i := range theirs {
		k := &theirs[i]
		known := make(map[keys.Integer]bool)
		add := func(old keys.Integer) {
			if known[old] {
				return
			}
			known[old] = true
			image, _, ok := k.LoadedImage(old)
			here := image
			for at := record.Outer(theirs, k); at != nil && ok; at = record.Outer(theirs, at) {
				here, _, ok = at.LoadedImage(here)
			}
			if ok {
				here, ok = imageOf(r, world, k, here)
			}
			if ok {
				all = append(all, plan.Match{Path: r.Plan.Path(world) + " " + k.Path, Source: k.Source, Table: k.Table, Column: k.Column, Space: k.Space, Old: old, Image: image, Here: here})
			}
		}
		for old := range k.Matches.All() {
			add(old)
		}
		for key := range pairsOf(r, world, k.Table, k.Column).All() {
			if old, ok := record.Oldest(theirs, k, key); ok {
				add(old)
			}
		}
	}
	return all, nil
}

// pairsOf are the keys of a column of a world that this merge matches.
func pairsOf(r *job.Run, world int, table, column string) *keys.Pairs {
	if c := r.Plan.Rekey.Column(table, column); c != nil && c.Key {
		return r.Plan.Rekey.Matched(c.Cases[0].Space, r.Plan.Worlds[world].Name)
	}
	return nil
}

// imageOf is what this merge makes of a key that a world has.
func imageOf(r *job.Run, world int, k *record.KeySet, key keys.Integer) (keys.Integer, bool) {
	c := r.Plan.Rekey.Column(k.Table, k.Column)
	if c == nil || !c.Key {
		return key, true
	}
	shift, err := r.Plan.Rekey.Shift(&c.Cases[0], r.Plan.Worlds[world].Name)
	if err != nil {
		return key, false
	}
	return shift.Image(key)
}

// Save writes the matched keys of a world, and those that it brings along, in the place
// of older ones.
func Save(ctx context.Context, r *job.Run, world int, all []plan.Match) error {
	known, err := record.HasMatches(ctx, r.New)
	matches := slices.ContainsFunc(r.Plan.NewKeys().Spaces, func(s verdict.RekeyedSpace) bool { return s.By != nil })
	if err != nil || !known && !matches && len(all) == 0 { // who asks the table finds it, also if no pair was found
		return err
	}
	if _, err := r.New.Exec(ctx, "create", record.CreateMatches(r.New.Dialect()), false); err != nil {
		return err
	}
	return r.New.Tx(ctx, func() error {
		if _, err := r.New.Exec(ctx, "clear", "DELETE FROM "+record.MatchesTable+" WHERE path = ? OR path LIKE ?", false, r.Plan.Path(world), r.Plan.Path(world)+" %"); err != nil {
			return err
		}
		const columns = 8
		row := "(" + sqldb.Marks(columns) + ")"
		most := r.New.Dialect().Most(columns)
		for some := range slices.Chunk(all, most) {
			var args []any
			for _, m := range some {
				args = append(args, m.Path, m.Source, m.Table, m.Column, m.Space, m.Old.String(), m.Image.String(), m.Here.String())
			}
			query := "INSERT INTO " + record.MatchesTable + " (path, source, tab, col, space, old_key, new_key, key_here) VALUES " + strings.Repeat(row+", ", len(some)-1) + row
			if _, err := r.New.Exec(ctx, "matches", query, len(some) == most, args...); err != nil {
				return err
			}
		}
		return nil
	})
}
