package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// The proof of keys that are matched does not ask how they were: the target must remember
// exactly the pairs of the plan, the two rows of each pair must have one natural key, by a
// query in the target, and no two rows of the target may have one.

// proveMatches adds to the first two parts of the proof what they say of matched keys.
func (r *run) proveMatches(ctx context.Context, injective, disjoint *KeyProof) error {
	known, err := hasMatches(ctx, r.target)
	if err != nil {
		return err
	}
	for i := range r.plan.Rekey.Spaces {
		s := &r.plan.Rekey.Spaces[i]
		for k, of := range s.Sources {
			n := int64(of.Matched.Len())
			injective.Matched, disjoint.Matched = injective.Matched+n, disjoint.Matched+n
			for _, at := range r.plan.matchColumns(s.Name) {
				var there *rekey.Pairs
				for _, column := range []string{"new_key", "key_here"} { // in a merge of its own, both are the same
					if known {
						written, err := writtenPairs(ctx, r.target, column, r.path(k), at.table, at.column)
						if err != nil {
							return fmt.Errorf("reading %s of %q: %w", MatchesTable, r.target.Name, err)
						}
						var damaged error
						if there, damaged = written.parse(); damaged != nil {
							injective.wrong(1, "%s: the target's record of the matched keys of %s (%s in %s): %v", s.Name, of.Source, column, MatchesTable, damaged)
							continue
						}
					}
					if !there.Equal(of.Matched) {
						injective.wrong(1, "%s: the target has a record of %d matched keys of %s (%s in %s), want %d: %s", s.Name, there.Len(), of.Source, column, MatchesTable, n, firstDifference(of.Matched, there))
						break
					}
				}
			}
			if s.By != nil && n > 0 {
				if err := r.proveNatural(ctx, s, k, disjoint); err != nil {
					return err
				}
			}
		}
		if s.By != nil && r.layouts[s.By.Table] != nil {
			if err := r.proveOnce(ctx, s, disjoint); err != nil {
				return err
			}
		}
	}
	for k := range r.plan.Sources {
		if err := r.proveBrought(ctx, k, known, injective); err != nil {
			return err
		}
	}
	return nil
}

// proveBrought compares the matched keys that a source brought along from earlier merges with
// the target's record of them.
func (r *run) proveBrought(ctx context.Context, source int, known bool, proof *KeyProof) error {
	src := r.sources[source]
	has, err := hasKeys(ctx, src)
	if err != nil || !has {
		return err
	}
	theirs, err := loadKeys(ctx, src, "", nil)
	if err != nil {
		return err
	}
	all, err := r.broughtMatches(ctx, source, theirs)
	if err != nil {
		return err
	}
	want := make(map[match]bool)
	for _, m := range all {
		want[m] = true
	}
	if known {
		const columns = "path, source, tab, col, space, old_key, new_key, key_here, undone"
		err = r.target.rows(ctx, "SELECT "+columns+" FROM "+MatchesTable+" WHERE path LIKE ?", false, []any{r.path(source) + " %"}, func(row []any) (bool, error) {
			m := match{path: text(row[0]), source: text(row[1]), table: text(row[2]), column: text(row[3]), space: text(row[4]), undone: text(row[8]) != "0"}
			for i, key := range []*rekey.Integer{&m.old, &m.image, &m.here} {
				var err error
				if *key, err = keyIn(row[5+i], MatchesTable+".old_key, new_key, key_here"); err != nil {
					return false, err
				}
			}
			if !want[m] {
				proof.wrong(1, "the target's record says that the key %s of %s.%s of %s became %s and is %s here (%s): it was not written so", m.old, m.table, m.column, m.source, m.image, m.here, MatchesTable)
			}
			delete(want, m)
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for _, m := range all {
		if want[m] {
			proof.wrong(1, "the target has no record that the key %s of %s.%s of %s became %s and is %s here (%s)", m.old, m.table, m.column, m.source, m.image, m.here, MatchesTable)
		}
	}
	return nil
}

// by is how the rows of a table are found by their key of a space, or by that and their
// natural key.
func (l *layout) by(s *merge.MatchedBy, natural bool) *layout {
	other := *l
	other.key = []int{slices.Index(l.columns, s.Key)}
	if natural {
		for _, name := range s.Columns {
			other.key = append(other.key, slices.Index(l.columns, name))
		}
	}
	return &other
}

// proveNatural makes sure that the rows of each pair have one natural key, as the target
// compares.
func (r *run) proveNatural(ctx context.Context, s *merge.RekeyedSpace, source int, proof *KeyProof) error {
	src, l := r.sources[source], r.layouts[s.By.Table]
	if l == nil {
		proof.wrong(1, "%s: table %s is not in the plan", s.Name, s.By.Table)
		return nil
	}
	byKey, byBoth := l.by(s.By, false), l.by(s.By, true)
	number := func(row []any) (rekey.Integer, error) { return keyIn(row[byKey.key[0]], s.By.Table+"."+s.By.Key) }
	var pairs []rekey.Pair
	for old, image := range s.Sources[source].Matched.All() {
		pairs = append(pairs, rekey.Pair{Old: old, New: image})
	}
	for some := range slices.Chunk(pairs, min(200, l.dialect.most(len(byBoth.key)))) {
		if err := r.between(ctx); err != nil {
			return err
		}
		images := make(map[rekey.Integer]rekey.Integer)
		var olds, wanted []any
		for _, p := range some {
			images[p.Old] = p.New
			v, _ := as(int64(0), p.Old)
			olds = append(olds, byKey.bound([]any{v})...)
		}
		found := 0
		err := src.rows(ctx, byKey.selectFrom()+" WHERE "+byKey.equal(len(some)), false, olds, func(row []any) (bool, error) {
			n, err := number(row)
			key := byBoth.keyOf(row)
			key[0], _ = as(int64(0), images[n])
			wanted = append(wanted, byBoth.bound(key)...)
			found++
			return true, err
		})
		if err != nil {
			return fmt.Errorf("reading table %q of %q: %w", s.By.Table, src.Name, err)
		}
		if found > 0 {
			err = r.target.rows(ctx, byKey.selectFrom()+" WHERE "+byBoth.equal(found), false, wanted, func(row []any) (bool, error) {
				n, err := number(row)
				for _, p := range some {
					if p.New == n {
						delete(images, p.Old)
					}
				}
				return true, err
			})
			if err != nil {
				return fmt.Errorf("reading table %q of %q: %w", s.By.Table, r.target.Name, err)
			}
		}
		for _, p := range some {
			if _, off := images[p.Old]; off {
				proof.wrong(1, "%s: key %s of %s is matched with %s, but their rows differ in %s", s.Name, p.Old, src.Name, p.New, s.By)
			}
		}
	}
	return nil
}

// proveOnce makes sure that no two rows of the target are the same thing: then one was not
// matched that should have been.
func (r *run) proveOnce(ctx context.Context, s *merge.RekeyedSpace, proof *KeyProof) error {
	d := r.target.dialect()
	key, columns, table := d.Quote(s.By.Key), d.QuoteAll(s.By.Columns), d.Quote(s.By.Table)
	var some []string
	for _, name := range s.By.Columns {
		some = append(some, d.Quote(name)+" IS NOT NULL", "TRIM("+d.Quote(name)+") <> ''")
	}
	query := "SELECT COUNT(*), MIN(" + key + "), MAX(" + key + ") FROM " + table + where(some...) + " GROUP BY " + columns + " HAVING COUNT(*) > 1"
	err := r.target.rows(ctx, query, false, nil, func(row []any) (bool, error) {
		n, err := intIn(row[0], "the number of rows")
		if err != nil {
			return false, err
		}
		proof.wrong(n-1, "%s: the rows %s and %s of %s have the same %s: one of them was not matched", s.Name, printed(row[1]), printed(row[2]), s.By.Table, s.By)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("reading table %q of %q: %w", s.By.Table, r.target.Name, err)
	}
	return nil
}
