package rules

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// NoNames returns the values that are not names in columns that are to be unique:
// several rows may have them. All statements about the same columns count together.
func (d *Declared) NoNames(table string, columns ...string) keys.Values {
	return d.noNames[IDOf(table, columns...)]
}

// BelongToNone are the values of columns that name no row in every row, as the one reference of each
// says.
func BelongToNone(f *Resolved, table string, columns []string) map[string]keys.Values {
	all := make(map[string]keys.Values)
	for _, name := range columns {
		refs := f.Declared.Role(table, name).References
		if len(refs) != 1 || refs[0].When != nil || refs[0].Cells != nil {
			continue
		}
		none, err := keys.ParseValues(refs[0].Declared.None) // without those that are kept
		if err == nil && !none.Empty() {
			all[name] = none
		}
	}
	return all
}

// leaveNoNames notes values that are no names, and makes them name nobody in what refers to
// names.
func (d *Declared) leaveNoNames(o Options, n Names) error {
	add := func(what, table string, columns, list []string) error {
		none, err := keys.ParseValues(list)
		if err == nil && len(columns) == 1 {
			err = n.takes("none", list, ColumnName{table, columns[0]})
		}
		if err != nil {
			return Unsuitable("%s: none of %s.%s: %v", what, table, catalog.ColumnList(columns), err)
		}
		if none.Empty() {
			return nil
		}
		id := IDOf(table, columns...)
		d.noNames[id] = d.noNames[id].With(none)
		if len(columns) == 1 {
			for _, ref := range d.to(ColumnName{table, columns[0]}) {
				if len(ref.Columns) == 1 {
					ref.None = ref.None.With(none)
				}
			}
		}
		return nil
	}
	return o.eachUnique(add)
}

// eachUnique calls use for each statement that makes columns unique, and for the values that are no names there.
func (o Options) eachUnique(use func(what, table string, columns, none []string) error) error {
	for i, u := range o.Uniques {
		if err := use(fmt.Sprintf("unique %d%s", i+1, in(u.File, u.Line)), u.Table, u.Columns, u.None); err != nil {
			return err
		}
	}
	for i, r := range o.Renames {
		if err := use(fmt.Sprintf("name %d%s", i+1, in(r.File, r.Line)), r.Table, []string{r.Column}, r.None); err != nil {
			return err
		}
	}
	return nil
}

// checkNoNames returns an error if a database itself keeps unique what is declared to be
// no name.
func checkNoNames(f *Resolved) error {
	return f.Opts.eachUnique(func(what, table string, columns, none []string) error {
		if len(none) == 0 {
			return nil
		}
		alike := func(other []string) bool {
			return len(other) == len(columns) && !slices.ContainsFunc(other, func(c string) bool { return !slices.Contains(columns, c) })
		}
		for db, t := range f.Having(table) {
			index := ""
			for _, u := range t.Uniques {
				if u.Unclear == "" && alike(u.Columns) {
					index = "the UNIQUE index " + u.Name
				}
			}
			if alike(t.Key()) {
				index = "the key"
			}
			if index != "" {
				return Unsuitable("%s: none = %s lets several rows have such a value in %s.%s, but %s of %s allows only one", what, printable.TOMLList(none), table, strings.Join(columns, ", "), index, db.Name)
			}
		}
		return nil
	})
}
