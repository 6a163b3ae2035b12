package kinds

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/verdict"
)

// keys are the keys that a reference may lead to, by database.
type keys map[*declare.Database][]*undeclared.KeySet

func (k keys) has(db *declare.Database, n rekey.Integer) bool {
	return slices.ContainsFunc(k[db], func(s *undeclared.KeySet) bool { return s.Has(n) })
}

// Find looks for a column that tells kinds of a reference apart; nil if there is none. It reads the
// table of the reference once in each database.
func Find(ctx context.Context, r undeclared.OpenReader, ref *declare.Ref) (*Split, error) {
	known, highest, err := keysOf(ctx, r, ref)
	if err != nil || known == nil {
		return nil, err
	}
	all := make(map[string]map[string]*group) // by column and value; nil: a column of too many
	for db, t := range r.Facts.Having(ref.Table) {
		if t.Column(ref.Columns[0]) == nil {
			continue
		}
		err := count(ctx, r, ref, db, t, known, all)
		if _, unsupported := errors.AsType[*catalog.UnsupportedError](err); unsupported {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	var best *Split
	for by, groups := range all {
		if s := judge(by, groups, highest); s != nil && (best == nil || s.compare(best) < 0) {
			best = s
		}
	}
	return best, nil
}

// keysOf reads the keys that a reference leads to, and the largest one. It returns nil if they are no numbers.
func keysOf(ctx context.Context, r undeclared.OpenReader, ref *declare.Ref) (found keys, highest uint64, err error) {
	found = make(keys)
	for _, to := range read.Targets(ref) {
		_, model := declare.KeyModel(r.Facts.Resolved, to.Table)
		if model == nil || undeclared.KeyClassOf(model.Column(to.Column)) != undeclared.IntegerClass {
			return nil, 0, nil
		}
		c := undeclared.Candidate{Table: to.Table, Column: to.Column, Class: undeclared.IntegerClass}
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, 0, err
		}
		for db, set := range r.UndeclaredKeys().Sets[c] {
			found[db] = append(found[db], set)
			highest = max(highest, set.Integers.Highest())
		}
	}
	return found, highest, nil
}

// tells reports whether a column may tell kinds apart, as far as its type and the rules say: one that names rows itself does not.
func tells(f *read.Facts, table string, c *catalog.Column) bool {
	names := f.Declared.Role(table, c.Name).Kind == declare.RoleReference || declare.ForeignKey(f.Resolved, table, c.Name)
	return (c.Kind == catalog.KindInteger || c.Kind == catalog.KindText) && c.Generated == "" && c.Opaque == "" && !c.IsID && !names
}

// count counts the rows of one database.
func count(ctx context.Context, r undeclared.OpenReader, ref *declare.Ref, db *declare.Database, t *catalog.Table, known keys, all map[string]map[string]*group) error {
	s := r.Stream(db, r.Code, 0, catalog.Scan{Table: t.Name, Unsorted: true})
	leaves, at := read.Leaves(ref, s), s.Carry(ref.Columns[0])
	type column struct {
		name string
		at   int
	}
	var columns []column
	for i := range t.Columns {
		c := &t.Columns[i]
		groups, seen := all[c.Name]
		if c.Name == ref.Columns[0] || !tells(r.Facts, t.Name, c) || seen && groups == nil {
			continue
		}
		if !seen {
			all[c.Name] = make(map[string]*group)
		}
		columns = append(columns, column{c.Name, s.Carry(c.Name)})
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			v := b.Carry[at].At(row)
			n, ok := rekey.ParseInteger(v)
			if v == nil || !ok || leaves(row) {
				continue
			}
			own := known.has(db, n)
			elsewhere := !own && slices.ContainsFunc(r.Facts.DBs, func(other *declare.Database) bool { return other != db && known.has(other, n) })
			for _, c := range columns {
				groups, value := all[c.name], b.Carry[c.at].At(row)
				if groups == nil || value == nil {
					continue
				}
				g := groups[string(value)]
				if g == nil {
					if len(groups) == MostValues || len(value) > 64 {
						all[c.name] = nil
						continue
					}
					g = &group{Kind: verdict.Kind{Value: string(value)}}
					groups[g.Value] = g
				}
				g.add(db, n, own, elsewhere)
			}
		}
	})
	return s.Drain(ctx)
}
