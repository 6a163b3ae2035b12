package merge

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/rekey"
)

// Withheld are rows of a table that a merge leaves out.
type Withheld interface {
	Of() string // the table

	// SQL is the condition for them, as all engines understand it. It is never NULL.
	// quote writes the name of a column.
	SQL(quote func(string) string) string
}

// Of implements [Withheld].
func (s *Severed) Of() string { return s.Table }

// KeptRows are the rows of a table with some keys of a space, which are the same in every
// world: they keep their keys, and the target's stay.
type KeptRows struct {
	Table, Column string
	Keys          string // as Space.Keep
}

// Of implements [Withheld].
func (k *KeptRows) Of() string { return k.Table }

// SQL implements [Withheld].
func (k *KeptRows) SQL(quote func(string) string) string {
	column := quote(k.Column)
	keys, err := parseKeep(k.Keys)
	if err != nil || keys.Empty() {
		return "1 = 0"
	}
	return "(" + column + " IS NOT NULL AND NOT (" + strings.Join(keys.IntegerSQL(column), " AND ") + "))"
}

func parseKeep(text string) (rekey.Values, error) {
	if text == "" {
		return rekey.Values{}, nil
	}
	return rekey.ParseValues(false, []string{text})
}

// keptKeys are, of columns of keys, those that are the same in every world: as Space.Keep.
type keptKeys map[columnName]string

func keeps(opts Options, n names) (all keptKeys, err error) {
	all = make(keptKeys)
	if opts.Rekey == nil {
		return all, nil
	}
	for i, s := range opts.Rekey.Spaces {
		if s.Keep == "" {
			continue
		}
		fail := func(err error) error { return unsuitable("space %d%s: keep: %v", i+1, in(s.File, s.Line), err) }
		if _, err := parseKeep(s.Keep); err != nil {
			return nil, fail(err)
		}
		if len(s.Keys) == 0 {
			return nil, fail(fmt.Errorf("the space has no key column, so it has no rows to keep: list the values in none of the references to it"))
		}
		for _, text := range s.Keys {
			if err := n.each(text, func(at columnName, _ bool) error { all[at] = s.Keep; return nil }); err != nil {
				return nil, fail(err)
			}
		}
	}
	return all, nil
}

// keepAll notes the keys that keep their values, in what refers to them too.
func keepAll(f *resolved) (err error) {
	if f.keeps, err = keeps(f.opts, f.names); err != nil || len(f.keeps) == 0 {
		return err
	}
	all := slices.Clone(f.declared.composite)
	for _, r := range f.declared.roles {
		all = append(all, r.references...)
	}
	for _, db := range f.dbs {
		for _, t := range db.tables {
			for _, r := range t.References {
				all = append(all, &reference{Reference: r, table: t.Name})
			}
		}
	}
	for _, r := range all {
		if err := f.keeps.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// apply adds kept keys to the values of a reference that stay as they are: they name the
// same row in every world.
func (k keptKeys) apply(r *reference) error {
	keys := make(map[string]bool)
	for i, column := range r.ToColumns {
		kept := k[columnName{r.ToTable, column}]
		if kept != "" && len(r.Columns) > 1 {
			return unsuitable("%s.%s refers by several columns to keys of which some are kept (keep): only one column can", r.table, r.subject())
		}
		if i == 0 {
			keys[kept] = true
		}
	}
	for _, to := range r.or {
		keys[k[to]] = true
	}
	if len(keys) > 1 {
		return unsuitable("%s.%s refers to keys of which some are kept (keep) and others are not: give all these spaces the same keep", r.table, r.subject())
	}
	for text := range keys {
		kept, err := parseKeep(text)
		if err != nil {
			return err
		}
		r.none = r.none.With(kept)
	}
	return nil
}

// rows are the rows of tables that keep their keys, in the order of their names.
func (k keptKeys) rows(tables []string) (all []*KeptRows) {
	for at, keys := range k {
		if slices.Contains(tables, at.table) {
			all = append(all, &KeptRows{at.table, at.column, keys})
		}
	}
	slices.SortFunc(all, func(a, b *KeptRows) int { return strings.Compare(a.Table+"."+a.Column, b.Table+"."+b.Column) })
	return all
}
