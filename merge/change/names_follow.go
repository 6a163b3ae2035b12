package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// maxFollowing is how many rows may follow the renames of one column: each is recorded
// in the plan.
const maxFollowing = 1_000_000

// namesakes are rows that have a name which several rows have, by database and by the
// form of the name.
type namesakes map[int]map[string][]*home

// home is a row that others may name, and its rename; none if it keeps its name.
type home struct {
	name   string
	rename *plan.Rename
	joined bool // it becomes one with a row of another world, and gets the name of that
}

func (n namesakes) add(group []named) {
	for _, row := range group {
		if n[row.db] == nil {
			n[row.db] = make(map[string][]*home)
		}
		n[row.db][row.form] = append(n[row.db][row.form], &home{name: row.name})
	}
}

// rename notes what becomes of a row. Of two with one name in one database, which their
// own database tells apart, none can be named.
func (n namesakes) rename(row named, r plan.Rename) *home {
	all := n[row.db][row.form]
	h := all[slices.IndexFunc(all, func(h *home) bool { return h.name == row.name && h.rename == nil })]
	h.rename = &r
	return h
}

// any reports whether any row is renamed.
func (n namesakes) any() bool { return len(n) > 0 } // of rows with one name, all but one are

// find returns the row that a name means: the one with just that name, or the only one
// whose name is equal to it as the first world compares. It is nil if there is none, and sure
// is false if there are several.
func (n namesakes) find(db int, form, name string) (h *home, sure bool) {
	all := n[db][form]
	exact := slices.DeleteFunc(slices.Clone(all), func(h *home) bool { return h.name != name })
	switch {
	case len(exact) == 1:
		return exact[0], true
	case len(exact) == 0 && len(all) == 1:
		return all[0], true
	default:
		return nil, len(all) == 0
	}
}

// renaming plans new names.
type renaming struct {
	*Planning
	followers []rules.NameReference // what refers to names that are changed
}

func newRenaming(p *Planning) *renaming { return &renaming{p, p.Resolved.NameReferences()} }

// followersOf are the columns that change with the one of a policy.
func (p *renaming) followersOf(n *plan.NamePolicy) (all []plan.ColumnAt) {
	for _, f := range p.followers {
		if f.To.Table == n.Table && f.To.Column == n.Column {
			all = append(all, plan.ColumnAt{Table: f.Table, Column: f.Column})
		}
	}
	for _, c := range p.Opts.Copies {
		if c.OfTable == n.Table && c.OfColumn == n.Column {
			all = append(all, plan.ColumnAt{Table: c.Table, Column: c.Column})
		}
	}
	return all
}

// follow plans what becomes of the rows that refer to names of one column: each follows
// the row of its own database.
func (p *renaming) follow(ctx context.Context, n *plan.NamePolicy, col *catalog.Column, homes namesakes) error {
	for i := range p.followers {
		f := &p.followers[i]
		if f.To.Table != n.Table || f.To.Column != n.Column {
			continue
		}
		if f.Why == "" {
			f.Why = p.twice(f)
		}
		if f.Why != "" && homes.any() {
			p.RefuseValues(f.Table, "%s", f.Why)
			continue
		}
		var found []plan.Rename
		for db := range p.DBs {
			rows, err := p.followersIn(ctx, db, f, col, homes)
			if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
				p.RefuseIn(p.DBs[db].Name(), f.Table, "the names in %s cannot be compared: %v", f.Column, unsupported)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s.%s: %w", f.Table, f.Column, err)
			}
			found = append(found, rows...)
		}
		if len(found) > maxFollowing {
			p.RefuseValues(f.Table, "%d rows would follow the new names by %s, but at most %d can", len(found), f.Column, maxFollowing)
			continue
		}
		if a, b := p.spelled(f, col, found); a != b {
			p.RefuseValues(f.Table, "the values of its column %s must be unique (alone or with other columns), but one name is written as %q and as %q: write it the same way everywhere", f.Column, a, b)
			continue
		}
		if t := p.DBs[0].Table(f.Table); len(found) > 0 && t.Key() == nil {
			p.Plan.Keyless = append(p.Plan.Keyless, plan.KeylessName{Table: f.Table, Column: f.Column, By: f.Column, When: f.When()})
		}
		p.Plan.Renames = append(p.Plan.Renames, found...)
	}
	return nil
}

// twice says why the rows of a table without a key cannot follow by a column that names rows of two kinds: what follows
// is found by the old name, and that may be one of each.
func (p *renaming) twice(f *rules.NameReference) string {
	t, n := p.DBs[0].Table(f.Table), 0
	for i := range p.followers {
		if p.followers[i].Table == f.Table && p.followers[i].Column == f.Column {
			n++
		}
	}
	if n < 2 || t == nil || t.Key() != nil {
		return ""
	}
	return fmt.Sprintf("the table has no key, and its column %s has names of several kinds: give the table a key, or leave the rows of the other worlds behind", f.Column)
}

// spelled returns two ways in which rows of one world have a name in a column that is unique, alone or with others, and
// compares otherwise than the names: with the new name they might be the same. Equal texts mean that there are none.
func (p *renaming) spelled(f *rules.NameReference, name *catalog.Column, found []plan.Rename) (a, b string) {
	t := p.DBs[0].Table(f.Table)
	if t == nil || t.Column(f.Column).Collation == name.Collation {
		return "", ""
	}
	unique := p.unique(t, f.Column)
	first := make(map[[2]string]string)
	for _, r := range found {
		to := [2]string{r.Source, r.New}
		if old, is := first[to]; is && old != r.Old && unique {
			return old, r.Old
		}
		first[to] = r.Old
	}
	return "", ""
}

// unique reports whether a column has to be unique, alone or with others.
func (p *renaming) unique(t *catalog.Table, column string) bool {
	return slices.Contains(t.Key(), column) ||
		slices.ContainsFunc(p.Resolved.Uniques(t.Name), func(u rules.Unique) bool { return slices.Contains(u.Columns, column) })
}

// followersIn returns what becomes of the rows of one database.
func (p *renaming) followersIn(ctx context.Context, db int, f *rules.NameReference, col *catalog.Column, homes namesakes) (found []plan.Rename, err error) {
	s := p.DBs[db]
	copied := slices.ContainsFunc(p.Plan.Tables, func(t plan.Table) bool { return t.Name == f.Table })
	t := s.Table(f.Table)
	if t == nil || t.Column(f.Column) == nil || len(homes[db]) == 0 || !copied && db > 0 {
		return nil, nil
	}
	model := p.DBs[0].Table(f.Table)
	names := f.Carry()
	scan := catalog.Scan{Table: f.Table, Order: []catalog.Order{{Column: f.Column, Collation: col.Collation}},
		Carry: append(names, model.Key()...), Unsorted: true, SkipNull: true}
	var unclear []string          // the first name of several rows
	seen := make(map[string]bool) // names in a table without a key: one rename is for all rows
	unique := p.unique(model, f.Column)
	for b, err := range s.Scan(ctx, scan) {
		if err != nil {
			return nil, err
		}
		for row := range b.Len {
			values := make([][]byte, len(b.Carry))
			for i := range b.Carry {
				values[i] = b.Carry[i].At(row)
			}
			if !f.Names(values) {
				continue
			}
			h, sure := homes.find(db, string(b.Order[0].At(row)), string(values[0]))
			if !sure && unclear == nil {
				unclear = []string{string(values[0])}
			}
			if h == nil || h.rename == nil {
				continue
			}
			text, err := nameKeyText(model, values[len(names):])
			if model.Key() == nil {
				text, err = world.EncodeKey([]any{string(values[0])})
			}
			if err != nil {
				return nil, err
			}
			if h.joined && unique {
				p.RefuseIn(s.Name(), f.Table, "the column %s must be unique, alone or with others, and refers to %q, who is %q in another world, so two rows might become equal: give that row of %s the same name in both before the merge", f.Column, h.name, h.rename.New, f.To.Table)
				return nil, nil
			}
			if model.Key() == nil {
				if seen[text] {
					continue
				}
				seen[text] = true
			}
			r := *h.rename
			r.Table, r.Column, r.Key, r.Old = f.Table, f.Column, text, string(values[0])
			found = append(found, r)
		}
	}
	switch {
	case unclear != nil:
		p.RefuseIn(s.Name(), f.Table, "the column %s refers to %q, but several rows of %s have that name, as the first world compares: rename all but one of them before the merge", f.Column, unclear[0], f.To.Table)
	case !copied && len(found) > 0:
		p.RefuseIn(s.Name(), f.Table, "%d of its rows refer by the column %s to rows that get new names, but the table is not part of the merge: include it", len(found), f.Column)
		return nil, nil
	}
	slices.SortFunc(found, func(a, b plan.Rename) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}
