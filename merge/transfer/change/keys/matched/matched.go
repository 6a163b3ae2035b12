// Package matched records the keys of a source that were matched, those that it brings along from earlier merges among them.
package matched

import (
	"context"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
)

// Own are the matched keys of a source.
func Own(r *job.Run, source int) (all []plan.Match) {
	for i := range r.Plan.Rekey.Spaces {
		s := &r.Plan.Rekey.Spaces[i]
		for _, at := range r.Plan.MatchColumns(s.Name) {
			for old, image := range s.Sources[source].Matched.All() {
				all = append(all, plan.Match{Path: r.Plan.Path(source), Source: r.Plan.Sources[source].Name, Table: at.Table, Column: at.Column, Space: s.Name, Old: old, Image: image, Here: image})
			}
		}
	}
	return all
}

// Brought are matched keys that a source remembers itself, and keys that came to it and are
// matched now.
func Brought(ctx context.Context, r *job.Run, source int, theirs []ledger.KeySet) (all []plan.Match, err error) {
	src := r.Sources[source]
	if err := ledger.LoadMatches(ctx, src, theirs); err != nil {
		return nil, err
	}
	for i := range theirs {
		k := &theirs[i]
		known := make(map[rekey.Integer]bool)
		add := func(old rekey.Integer) {
			if known[old] {
				return
			}
			known[old] = true
			image, _, ok := k.LoadedImage(old)
			here := image
			for at := ledger.Outer(theirs, k); at != nil && ok; at = ledger.Outer(theirs, at) {
				here, _, ok = at.LoadedImage(here)
			}
			if ok {
				here, ok = imageOf(r, source, k, here)
			}
			if ok {
				all = append(all, plan.Match{Path: r.Plan.Path(source) + " " + k.Path, Source: k.Source, Table: k.Table, Column: k.Column, Space: k.Space, Old: old, Image: image, Here: here, Undone: k.Undone})
			}
		}
		for old := range k.Matches.All() {
			add(old)
		}
		for key := range pairsOf(r, source, k.Table, k.Column).All() {
			if old, ok := ledger.Oldest(theirs, k, key); ok {
				add(old)
			}
		}
	}
	return all, nil
}

// pairsOf are the keys of a column of a source that this merge matches.
func pairsOf(r *job.Run, source int, table, column string) *rekey.Pairs {
	for _, c := range r.Plan.Rekey.Columns {
		if c.Key && c.Table == table && c.Column == column {
			return r.Plan.Rekey.Matched(c.Cases[0].Space, r.Plan.Sources[source].Name)
		}
	}
	return nil
}

// imageOf is what this merge makes of a key that a source has.
func imageOf(r *job.Run, source int, k *ledger.KeySet, key rekey.Integer) (rekey.Integer, bool) {
	for i := range r.Plan.Rekey.Columns {
		if c := &r.Plan.Rekey.Columns[i]; c.Key && c.Table == k.Table && c.Column == k.Column {
			shift, err := r.Plan.Rekey.Shift(&c.Cases[0], r.Plan.Sources[source].Name)
			if err != nil {
				return key, false
			}
			return shift.Image(key)
		}
	}
	return key, true
}

// Save writes the matched keys of a source, and those that it brings along, in the place
// of older ones.
func Save(ctx context.Context, r *job.Run, source int, all []plan.Match) error {
	known, err := ledger.HasMatches(ctx, r.Target)
	if err != nil || !known && len(all) == 0 {
		return err
	}
	if _, err := r.Target.Exec(ctx, "create", ledger.CreateMatches(r.Target.Dialect()), false); err != nil {
		return err
	}
	return r.Target.Tx(ctx, func() error {
		if _, err := r.Target.Exec(ctx, "clear", "DELETE FROM "+ledger.MatchesTable+" WHERE path = ? OR path LIKE ?", false, r.Plan.Path(source), r.Plan.Path(source)+" %"); err != nil {
			return err
		}
		const columns = 9
		row := "(" + sqldb.Marks(columns) + ")"
		most := r.Target.Dialect().Most(columns)
		for some := range slices.Chunk(all, most) {
			var args []any
			for _, m := range some {
				args = append(args, m.Path, m.Source, m.Table, m.Column, m.Space, m.Old.String(), m.Image.String(), m.Here.String(), map[bool]int{true: 1}[m.Undone])
			}
			query := "INSERT INTO " + ledger.MatchesTable + " (path, source, tab, col, space, old_key, new_key, key_here, undone) VALUES " + strings.Repeat(row+", ", len(some)-1) + row
			if _, err := r.Target.Exec(ctx, "matches", query, len(some) == most, args...); err != nil {
				return err
			}
		}
		return nil
	})
}
