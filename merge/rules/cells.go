package rules

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// inCells notes a reference of which the keys are in the cells of a column or, as words, of
// several.
func (d *Declared) inCells(at ColumnName, ref *Ref, from statement, n Names) (err error) {
	if ref.Cells, err = keys.ParseRow(ref.Declared.Format, at.Column, d.codecs); err != nil {
		return fmt.Errorf("format: %w", err)
	}
	for _, name := range ref.Cells.Columns() {
		col := n[at.Table][name]
		switch {
		case col == nil:
			return fmt.Errorf("format: %s", n.lacks(at.Table, name))
		case col.Kind == catalog.KindReal || col.Kind == catalog.KindTime || slices.Contains(noCells, NameOf(col.Type)):
			return fmt.Errorf("format: %s.%s is %s, which cannot be written back as it was read", at.Table, name, col.Declared())
		case col.Kind == catalog.KindAny:
			return fmt.Errorf("format: %s.%s is %s, which holds values of any kind in SQLite: want a column of type TEXT in all worlds", at.Table, name, col.Declared())
		case len(ref.Cells.Columns()) > 1 && col.Kind != catalog.KindInteger:
			return fmt.Errorf("format: %s.%s is %s: want integers that each hold some bits of the key", at.Table, name, col.Declared())
		}
		one := ref
		if name != at.Column {
			one = new(Ref)
			*one = *ref
			one.Columns, one.part = []string{name}, true
		}
		if err := d.say(ColumnName{at.Table, name}, &role{Kind: RoleReference, References: []*Ref{one}, Source: from}); err != nil {
			return err
		}
	}
	return nil
}

// noCells are types of values that are not what was written, but one of a few, or bits.
var noCells = []string{"bit", "year", "set", "enum", "inet4", "inet6"}

// Clearable reports whether the keys in the cells can be cleared: the proof reads them in SQL.
func (r *Ref) Clearable() bool {
	key, _ := r.Cells.SQL(catalog.SQLName)
	return key != ""
}

// integers returns an error unless the keys that a format finds can be keys of these columns.
func integers(to []ColumnName, n Names, format string) error {
	for _, at := range to {
		if col := n[at.Table][at.Column]; format != "" && col != nil && col.Kind != catalog.KindInteger {
			return fmt.Errorf("format: it finds integers, but %s is %s", at, col.Declared())
		}
	}
	return nil
}

// InCellsOf returns the references with keys in the cells of a column.
func (d *Declared) InCellsOf(at ColumnName) []*Ref {
	return d.Those(at.Table, func(r *Ref) bool { return r.Cells != nil && r.Columns[0] == at.Column })
}

// apart reports whether two references of one column may be about one row: their keys are
// in cells, where each must find bytes of its own.
func (r *Ref) apart(other *Ref) bool {
	return r.Cells != nil && other.Cells != nil && len(r.Cells.Columns()) == 1 && len(other.Cells.Columns()) == 1
}

// Cells returns where the keys of the case are in cells; nil if a value is the whole cell.
func (c MovedCase) Cells() *keys.Row {
	if c.Ref == nil {
		return nil
	}
	return c.Ref.Cells
}

// inUnique reports whether one of several columns with the words of keys is in a key of a
// table, and which.
func (m *MovedColumn) inUnique(t *catalog.Table) (name string, in bool) {
	for _, c := range m.Cases {
		cells := c.Cells()
		if cells == nil || len(cells.Columns()) == 1 {
			continue
		}
		for _, name := range cells.Columns() {
			has := func(u catalog.Unique) bool { return slices.Contains(u.Columns, name) }
			if slices.Contains(t.Primary, name) || slices.ContainsFunc(t.Uniques, has) {
				return name, true
			}
		}
	}
	return "", false
}

// Outlives reports whether a condition is as true of a cell in which keys get new values as it
// was before: a number in JSON stays one, and a row does not grow by so much that a limit of
// many megabytes is near.
func Outlives(c *catalog.Condition, column string, in []*Ref) bool {
	if c.Kind == catalog.ConditionSize {
		return true
	}
	text := strings.NewReplacer("`", "", `"`, "", " ", "").Replace(c.Text)
	return strings.EqualFold(text, "json_valid("+column+")") && !slices.ContainsFunc(in, func(r *Ref) bool { return !r.Cells.IsJSON() })
}
