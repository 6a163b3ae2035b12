package rules

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/keys"
)

// Of implements [catalog.Withheld].
func (s *Severed) Of() string { return s.Table }

// KeptRows are the rows of a table with some keys of a space, which are the same in every
// world: they keep their keys, and the first world's stay.
type KeptRows struct {
	Table, Column string
	Keys          string // as Space.Keep
}

// Of implements [catalog.Withheld].
func (k *KeptRows) Of() string { return k.Table }

// SQL implements [catalog.Withheld].
func (k *KeptRows) SQL(quote func(string) string) string {
	column := quote(k.Column)
	keys, err := ParseKeep(k.Keys)
	if err != nil || keys.Empty() {
		return "1 = 0"
	}
	return "(" + column + " IS NOT NULL AND NOT (" + strings.Join(keys.IntegerSQL(column), " AND ") + "))"
}

func ParseKeep(text string) (keys.Values, error) {
	if text == "" {
		return keys.Values{}, nil
	}
	return keys.ParseValues([]string{text})
}

// keptKeys are, of columns of keys, those that are the same in every world: as Space.Keep.
type keptKeys map[ColumnName]string

func keeps(opts Options, n Names) (all keptKeys, err error) {
	all = make(keptKeys)
	if opts.Rekey == nil {
		return all, nil
	}
	for i, s := range opts.Rekey.Spaces {
		if s.Keep == "" {
			continue
		}
		fail := func(err error) error { return Unsuitable("space %d%s: keep: %v", i+1, in(s.File, s.Line), err) }
		if _, err := ParseKeep(s.Keep); err != nil {
			return nil, fail(err)
		}
		if len(s.Keys) == 0 {
			return nil, fail(fmt.Errorf("the space has no key column, so it has no rows to keep: list the values in none of the references to it"))
		}
		for _, text := range s.Keys {
			if err := n.each(text, func(at ColumnName, _ bool) error { all[at] = s.Keep; return nil }); err != nil {
				return nil, fail(err)
			}
		}
	}
	return all, nil
}

// keepAll notes the keys that keep their values, in what refers to them too.
func keepAll(f *Resolved) (err error) {
	if f.Keeps, err = keeps(f.Opts, f.Names); err != nil || len(f.Keeps) == 0 {
		return err
	}
	all := slices.Clone(f.Declared.Composite)
	for _, r := range f.Declared.Roles {
		all = append(all, r.References...)
	}
	for _, db := range f.DBs {
		for _, t := range db.Tables {
			for _, r := range t.References {
				all = append(all, &Ref{Reference: r, Table: t.Name})
			}
		}
	}
	for _, r := range all {
		if err := f.Keeps.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// apply adds kept keys to the values of a reference that stay as they are: they name the
// same row in every world.
func (k keptKeys) apply(r *Ref) error {
	keys := make(map[string]bool)
	for i, column := range r.ToColumns {
		kept := k[ColumnName{r.ToTable, column}]
		if kept != "" && len(r.Columns) > 1 {
			return Unsuitable("%s.%s%s refers by several columns to keys, some of which are kept (keep): only one column may", r.Table, r.Subject(), r.Declared.in())
		}
		if i == 0 {
			keys[kept] = true
		}
	}
	for _, to := range r.Or {
		keys[k[to]] = true
	}
	if len(keys) > 1 {
		return Unsuitable("%s.%s%s refers to keys, some of which are kept (keep) and others are not: give all these spaces the same keep", r.Table, r.Subject(), r.Declared.in())
	}
	for text := range keys {
		kept, err := ParseKeep(text)
		if err != nil {
			return err
		}
		r.None = r.None.With(kept)
	}
	return nil
}

// Rows are the rows of tables that keep their keys, in the order of their names.
func (k keptKeys) Rows(tables []string) (all []*KeptRows) {
	for at, keys := range k {
		if slices.Contains(tables, at.Table) {
			all = append(all, &KeptRows{at.Table, at.Column, keys})
		}
	}
	slices.SortFunc(all, func(a, b *KeptRows) int { return strings.Compare(a.Table+"."+a.Column, b.Table+"."+b.Column) })
	return all
}
