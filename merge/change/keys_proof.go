package change

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// The proof of keys that are matched does not ask how they were: the new database must remember
// exactly the pairs of the plan, the two rows of each pair must have one natural key, by a
// query there, and no two rows there may have one.

// proveKeys compares the record of keys with the plan, and adds what the first two parts of
// the proof say of matched keys.
func proveKeys(ctx context.Context, p *Proving) error {
	if err := proveInjective(ctx, p.Run, &p.Parts.Injective); err != nil {
		return err
	}
	return proveMatches(ctx, p.Run, &p.Parts.Injective, &p.Parts.Disjoint)
}

// proveInjective compares what is on record with the plan. That the same number
// was added to all keys of a space is how they move; that no key is there twice, before
// and after, is what the tables rely on.
func proveInjective(ctx context.Context, r *job.Run, p *evidence.KeyProof) error {
	known, err := record.HasKeys(ctx, r.New)
	if err != nil {
		return err
	}
	var all []record.KeySet
	if known {
		if all, err = record.LoadKeys(ctx, r.New, "", nil); err != nil {
			return err
		}
	}
	if err := proveRemembered(ctx, r, all, p); err != nil {
		return err
	}
	for i := 1; i < len(r.Plan.Worlds); i++ { // the first one keeps its keys
		s := &r.Plan.Worlds[i]
		remembered := make(map[string]int64)
		for _, k := range all {
			if k.Path != r.Plan.Path(i) {
				continue
			}
			space := r.Plan.Rekey.Space(k.Space)
			if space != nil && (k.Source != s.Name || k.Count != k.Keys.Len() || k.Range != space.Worlds[i].New || !slices.ContainsFunc(r.Plan.Rekey.Columns, func(c verdict.RekeyedColumn) bool {
				return c.Key && c.Table == k.Table && c.Column == k.Column
			})) {
				p.NoteWrong(1, "the record of the keys of %s is not the one that the merge wrote: %s.%s", s.Name, k.Table, k.Column)
			}
			if space == nil || space.Worlds[i].Offset != k.Offset {
				p.NoteWrong(1, "the record says that %d was added to %s.%s of %s", k.Offset, k.Table, k.Column, s.Name)
				continue
			}
			remembered[k.Space] += k.Keys.Len()
			p.Checked += k.Keys.Len()
		}
		for _, space := range r.Plan.Rekey.Spaces {
			if want := space.Worlds[i].Rows; remembered[space.Name] != want {
				p.NoteWrong(max(1, want-remembered[space.Name]), "there is a record of %d keys of %q of %s, want %d", remembered[space.Name], space.Name, s.Name, want)
			}
		}
	}
	return nil
}

// proveRemembered compares what the worlds remember of earlier merges with what the new database has of it.
func proveRemembered(ctx context.Context, r *job.Run, all []record.KeySet, p *evidence.KeyProof) error {
	entry := func(k *record.KeySet) string { return k.Path + "\x00" + k.Table + "\x00" + k.Column }
	want := make(map[string]*record.KeySet)
	for i, w := range r.Worlds {
		theirs, err := record.LoadKeys(ctx, w, "", nil)
		if err != nil {
			return err
		}
		for _, k := range theirs {
			if i > 0 {
				k.Path = r.Plan.Path(i) + " " + k.Path
			}
			want[entry(&k)] = &k
		}
	}
	for _, k := range all {
		id, _, earlier := strings.Cut(k.Path, " ")
		if !earlier && strings.HasPrefix(id, r.Plan.ID+".") {
			continue // of this merge
		}
		if was := want[entry(&k)]; was == nil || was.Source != k.Source || was.Space != k.Space || was.Offset != k.Offset || was.Range != k.Range || was.Count != k.Count || !was.Keys.Equal(k.Keys) {
			p.NoteWrong(1, "the record of an earlier merge is not as the worlds have it: %s.%s of %s", k.Table, k.Column, k.Source)
		}
		delete(want, entry(&k))
	}
	for _, k := range want {
		p.NoteWrong(1, "there is no record of an earlier merge: %s.%s of %s", k.Table, k.Column, k.Source)
	}
	return nil
}

// proveMatches adds to the first two parts of the proof what they say of matched keys.
func proveMatches(ctx context.Context, r *job.Run, injective, disjoint *evidence.KeyProof) error {
	known, err := record.HasMatches(ctx, r.New)
	if err != nil {
		return err
	}
	for i := range r.Plan.Rekey.Spaces {
		s := &r.Plan.Rekey.Spaces[i]
		for k := 1; k < len(s.Worlds); k++ {
			of := &s.Worlds[k]
			n := int64(of.Matched.Len())
			injective.Matched, disjoint.Matched = injective.Matched+n, disjoint.Matched+n
			for _, at := range r.Plan.MatchColumns(s.Name) {
				var there *keys.Pairs
				for _, column := range []string{"new_key", "key_here"} { // in a merge of its own, both are the same
					if known {
						written, err := record.WrittenPairs(ctx, r.New, column, r.Plan.Path(k), at.Table, at.Column)
						if err != nil {
							return fmt.Errorf("reading %s of %q: %w", record.MatchesTable, r.New.Name, err)
						}
						var damaged error
						if there, damaged = written.Parse(); damaged != nil {
							injective.NoteWrong(1, "%s: the record of the matched keys of %s (%s in %s): %v", s.Name, of.World, column, record.MatchesTable, damaged)
							continue
						}
					}
					if !there.Equal(of.Matched) {
						injective.NoteWrong(1, "%s: there is a record of %d matched keys of %s (%s in %s), want %d: %s", s.Name, there.Len(), of.World, column, record.MatchesTable, n, plan.FirstDifference(of.Matched, there))
						break
					}
				}
			}
			if s.By != nil && n > 0 {
				if err := proveNatural(ctx, r, s, k, disjoint); err != nil {
					return err
				}
			}
		}
		if s.By != nil && r.Layouts[s.By.Table] != nil {
			if err := proveOnce(ctx, r, s, disjoint); err != nil {
				return err
			}
		}
	}
	for k := 1; k < len(r.Plan.Worlds); k++ {
		if err := proveBrought(ctx, r, k, known, injective); err != nil {
			return err
		}
	}
	return nil
}

// proveBrought compares the matched keys that a world brought along from earlier merges with
// the record of them.
func proveBrought(ctx context.Context, r *job.Run, w int, known bool, proof *evidence.KeyProof) error {
	src := r.Worlds[w]
	has, err := record.HasKeys(ctx, src)
	if err != nil || !has {
		return err
	}
	theirs, err := record.LoadKeys(ctx, src, "", nil)
	if err != nil {
		return err
	}
	all, err := Brought(ctx, r, w, theirs)
	if err != nil {
		return err
	}
	want := make(map[plan.Match]bool)
	for _, m := range all {
		want[m] = true
	}
	if known {
		const columns = "path, source, tab, col, space, old_key, new_key, key_here"
		err = r.New.Rows(ctx, "SELECT "+columns+" FROM "+record.MatchesTable+" WHERE path LIKE ?", false, []any{r.Plan.Path(w) + " %"}, func(row []any) (bool, error) {
			m := plan.Match{Path: world.Text(row[0]), Source: world.Text(row[1]), Table: world.Text(row[2]), Column: world.Text(row[3]), Space: world.Text(row[4])}
			for i, key := range []*keys.Integer{&m.Old, &m.Image, &m.Here} {
				var err error
				if *key, err = world.KeyIn(row[5+i], record.MatchesTable+".old_key, new_key, key_here"); err != nil {
					return false, err
				}
			}
			if !want[m] {
				proof.NoteWrong(1, "the record says that the key %s of %s.%s of %s became %s and is %s here (%s), but the merge did not write this", m.Old, m.Table, m.Column, m.Source, m.Image, m.Here, record.MatchesTable)
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
			proof.NoteWrong(1, "there is no record that the key %s of %s.%s of %s became %s and is %s here (%s)", m.Old, m.Table, m.Column, m.Source, m.Image, m.Here, record.MatchesTable)
		}
	}
	return nil
}

// by is how the rows of a table are found by their key of a space, or by that and their
// natural key.
func by(l *world.Layout, s *rules.MatchedBy, natural bool) *world.Layout {
	other := *l
	other.Key = []int{slices.Index(l.Columns, s.Key)}
	if natural {
		for _, name := range s.Columns {
			other.Key = append(other.Key, slices.Index(l.Columns, name))
		}
	}
	return &other
}

// proveNatural makes sure that the rows of each pair have one natural key, as the new database
// compares.
func proveNatural(ctx context.Context, r *job.Run, s *verdict.RekeyedSpace, w int, proof *evidence.KeyProof) error {
	src, l := r.Worlds[w], r.Layouts[s.By.Table]
	var pairs []keys.Pair
	stay := r.Plan.KeysThatStay(src.Name, s.By.Table)
	for old, image := range s.Worlds[w].Matched.All() {
		if stay == nil || !stay.Has(old) {
			pairs = append(pairs, keys.Pair{Old: old, New: image})
		}
	}
	if len(pairs) == 0 {
		return nil // no row came
	}
	if l == nil {
		proof.NoteWrong(1, "%s: table %s is not in the plan", s.Name, s.By.Table)
		return nil
	}
	byKey, byBoth := by(l, s.By, false), by(l, s.By, true)
	number := func(row []any) (keys.Integer, error) { return world.KeyIn(row[byKey.Key[0]], s.By.Table+"."+s.By.Key) }
	for some := range slices.Chunk(pairs, min(200, l.Dialect.Most(len(byBoth.Key)))) {
		if err := r.Between(ctx); err != nil {
			return err
		}
		images := make(map[keys.Integer]keys.Integer)
		var olds, wanted []any
		for _, p := range some {
			images[p.Old] = p.New
			v, _ := world.As(int64(0), p.Old)
			olds = append(olds, byKey.Bound([]any{v})...)
		}
		found := 0
		err := src.Rows(ctx, byKey.SelectFrom()+" WHERE "+byKey.Equal(len(some)), false, olds, func(row []any) (bool, error) {
			n, err := number(row)
			key := byBoth.KeyOf(row)
			key[0], _ = world.As(int64(0), images[n])
			wanted = append(wanted, byBoth.Bound(key)...)
			found++
			return true, err
		})
		if err != nil {
			return fmt.Errorf("reading table %q of %q: %w", s.By.Table, src.Name, err)
		}
		if found > 0 {
			err = r.New.Rows(ctx, byKey.SelectFrom()+" WHERE "+byBoth.Equal(found), false, wanted, func(row []any) (bool, error) {
				n, err := number(row)
				for _, p := range some {
					if p.New == n {
						delete(images, p.Old)
					}
				}
				return true, err
			})
			if err != nil {
				return fmt.Errorf("reading table %q of %q: %w", s.By.Table, r.New.Name, err)
			}
		}
		for _, p := range some {
			if _, off := images[p.Old]; off {
				proof.NoteWrong(1, "%s: key %s of %s is matched with %s, but their rows differ in %s", s.Name, p.Old, src.Name, p.New, s.By)
			}
		}
	}
	return nil
}

// proveOnce makes sure that no two rows of the new database are the same thing: then one was not
// matched that should have been.
func proveOnce(ctx context.Context, r *job.Run, s *verdict.RekeyedSpace, proof *evidence.KeyProof) error {
	d := r.New.Dialect()
	key, columns, table := d.Quote(s.By.Key), d.QuoteAll(s.By.Columns), d.Quote(s.By.Table)
	var some []string
	for _, name := range s.By.Columns {
		some = append(some, d.Quote(name)+" IS NOT NULL", "TRIM("+d.Quote(name)+") <> ''")
	}
	query := "SELECT COUNT(*), MIN(" + key + "), MAX(" + key + ") FROM " + table + world.Where(some...) + " GROUP BY " + columns + " HAVING COUNT(*) > 1"
	err := r.New.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		n, err := world.IntIn(row[0], "the number of rows")
		if err != nil {
			return false, err
		}
		proof.NoteWrong(n-1, "%s: the rows %s and %s of %s have the same %s: one of them was not matched", s.Name, world.Printed(row[1]), world.Printed(row[2]), s.By.Table, s.By)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("reading table %q of %q: %w", s.By.Table, r.New.Name, err)
	}
	return nil
}
