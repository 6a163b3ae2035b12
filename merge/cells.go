package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/nearest"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// inCells notes a reference of which the keys are in the cells of a column or, as words, of
// several.
func (d *declared) inCells(at columnName, ref *reference, from statement, n names) (err error) {
	if ref.cells, err = cell.ParseRow(ref.declared.Format, at.column, d.codecs); err != nil {
		return fmt.Errorf("format: %w", err)
	}
	for _, name := range ref.cells.Columns() {
		col := n[at.table][name]
		switch {
		case col == nil:
			return fmt.Errorf("format: table %q has no column %q%s", at.table, name, nearest.Hint(name, slices.Sorted(maps.Keys(n[at.table]))))
		case col.Kind == KindReal || col.Kind == KindTime || slices.Contains(noCells, nameOf(col.Type)):
			return fmt.Errorf("format: %s.%s is %s, which cannot be written as it was read", at.table, name, col.Type)
		case len(ref.cells.Columns()) > 1 && col.Kind != KindInteger:
			return fmt.Errorf("format: %s.%s is %s: want integers, of which each has some bits of the key", at.table, name, col.Type)
		}
		one := ref
		if name != at.column {
			one = new(reference)
			*one = *ref
			one.Columns, one.part = []string{name}, true
		}
		if err := d.say(columnName{at.table, name}, &role{kind: roleReference, references: []*reference{one}, source: from}); err != nil {
			return err
		}
	}
	return nil
}

// noCells are types of values that are not what was written, but one of a few, or bits.
var noCells = []string{"bit", "year", "set", "enum", "inet4", "inet6"}

// integers returns an error unless the keys that a format finds can be keys of these columns.
func integers(to []columnName, n names, format string) error {
	for _, at := range to {
		if col := n[at.table][at.column]; format != "" && col != nil && col.Kind != KindInteger {
			return fmt.Errorf("format: it finds integers, and %s is %s", at, col.Type)
		}
	}
	return nil
}

// cellsOf returns what lists the cells of a row in which a format looks, from what a stream carries.
func cellsOf(r *cell.Row, s *stream) func(row int) [][]byte {
	var at []int
	for _, name := range r.Columns() {
		at = append(at, s.carry(name))
	}
	cells := make([][]byte, len(at))
	return func(row int) [][]byte {
		for i := range at {
			cells[i] = s.carriedAt(at[i], row)
		}
		return cells
	}
}

// inCellsOf returns what lists the numbers in the cells of a row that name something. Of a
// cell that does not have the format it lists none.
func (r *reference) inCellsOf(s *stream) func(row int) []rekey.Integer {
	cells := cellsOf(r.cells, s)
	return func(row int) (all []rekey.Integer) {
		for _, k := range s.keysIn(r.cells, cells(row), row) {
			if !r.none.HasInteger(k.Value) {
				all = append(all, k.Value)
			}
		}
		return all
	}
}

// inCellsOf returns the references with keys in the cells of a column.
func (d *declared) inCellsOf(at columnName) []*reference {
	return d.those(at.table, func(r *reference) bool { return r.cells != nil && r.Columns[0] == at.column })
}

// apart reports whether two references of one column may be about one row: their keys are
// in cells, where each must find bytes of its own.
func (r *reference) apart(other *reference) bool {
	return r.cells != nil && other.cells != nil && len(r.cells.Columns()) == 1 && len(other.cells.Columns()) == 1
}

// cells returns where the keys of the case are in cells; nil if a value is the whole cell.
func (c movedCase) cells() *cell.Row {
	if c.ref == nil {
		return nil
	}
	return c.ref.cells
}

// inUnique reports whether one of several columns with the words of keys is in a key of a
// table, and which.
func (m *movedColumn) inUnique(t *Table) (name string, in bool) {
	for _, c := range m.cases {
		cells := c.cells()
		if cells == nil || len(cells.Columns()) == 1 {
			continue
		}
		for _, name := range cells.Columns() {
			has := func(u Unique) bool { return slices.Contains(u.Columns, name) }
			if slices.Contains(t.Primary, name) || slices.ContainsFunc(t.Uniques, has) {
				return name, true
			}
		}
	}
	return "", false
}

// movingCells are the columns of a database in which keys inside cells get new values, and the
// references that are about them.
func (k *rekeyed) movingCells(db *database, table string) map[string][]*reference {
	all := make(map[string][]*reference)
	for _, c := range k.moving.of(table) {
		for _, of := range c.cases {
			cells := of.cells()
			if cells == nil || k.of[of.space][db] == 0 {
				continue
			}
			for _, name := range cells.Columns() {
				all[name] = append(all[name], of.ref)
			}
		}
	}
	return all
}

// outlives reports whether a condition is as true of a cell in which keys get new values as it
// was before: a number in JSON stays one, and a row does not grow by so much that a limit of
// many megabytes is near.
func (c *Condition) outlives(column string, in []*reference) bool {
	if c.Kind == ConditionSize {
		return true
	}
	text := strings.NewReplacer("`", "", `"`, "", " ", "").Replace(c.Text)
	return strings.EqualFold(text, "json_valid("+column+")") && !slices.ContainsFunc(in, func(r *reference) bool { return !r.cells.IsJSON() })
}
