package declare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
)

// LeftRows are some rows of a table, of the worlds, that stay behind: its policy is
// [PolicySkip] for these. All others come.
type LeftRows struct {
	Table  string  `json:"table"`
	When   *When   `json:"when"`
	Counts []int64 `json:"rows"` // of each world, in their order; none of the first
}

// Of implements [catalog.Withheld].
func (l *LeftRows) Of() string { return l.Table }

// SQL implements [catalog.Withheld].
func (l *LeftRows) SQL(quote func(string) string) string {
	return l.When.IntegerSQL(quote(l.When.Column))
}

// All is what counts them.
func (l *LeftRows) All() *SeveredReference {
	return &SeveredReference{Severed: Severed{Table: l.Table, When: l.When}}
}

// leftRows finds the tables of which some rows stay behind.
func leftRows(f *Resolved) error {
	for _, table := range slices.Sorted(maps.Keys(f.Partly)) {
		p := f.Partly[table]
		if p.Rows == RowsNone {
			return Unsuitable("table %s%s: rows = %q is beside when: of a table of which some rows stay behind, those that refer to them can stay behind too (rows = %q), or are refused", table, in(p.File, p.Line), RowsNone, RowsDrop)
		}
		for db, t := range f.Having(table) {
			if !isInteger(t.Column(p.When.Column)) {
				return Unsuitable("table %s%s: when: in %s it has no column %q of integers, which says what rows stay behind", table, in(p.File, p.Line), db.Name, p.When.Column)
			}
		}
		for at, role := range f.Declared.Roles {
			for _, ref := range role.References {
				to := ref.ToTable == table || slices.ContainsFunc(ref.Or, func(to ColumnName) bool { return to.Table == table })
				if to && ref.Cells != nil {
					return Unsuitable("table %s%s: when %s its rows stay behind, and %s names its rows inside cells, so which of these cannot be told: let all rows come, or stay behind", table, in(p.File, p.Line), p.When, at)
				}
			}
		}
	}
	return nil
}

// LeftOf are the rows that stay behind, by their tables.
func LeftOf(f *Resolved) (all []*LeftRows) {
	for _, table := range slices.Sorted(maps.Keys(f.Partly)) {
		all = append(all, &LeftRows{Table: table, When: f.Partly[table].When, Counts: []int64{}})
	}
	return all
}

// severedPartly is a reference to a table of which some rows stay behind, if the rows that
// refer to these are to stay behind too; nil if that is not said.
func severedPartly(f *Resolved, table string, ref *Ref) (*SeveredReference, error) {
	p, partly := f.Partly[ref.ToTable]
	if !partly || cmp.Or(ref.Declared.Gone, p.Rows) != RowsDrop {
		return nil, nil
	}
	s := severedBy(ref, ref.ToTable, RowsDrop)
	s.ToColumn, s.Left = ref.ToColumns[0], p.When
	if len(ref.Or) > 0 || table == ref.ToTable {
		return nil, fmt.Errorf("the reference names rows of several tables, or of its own: of a table of which only some rows stay behind, the others cannot be told")
	}
	return s, validateSevered(s, f)
}

// leftSQL is the condition that a column names a row which stays behind, for a reference to a
// table of which only some do; "" for all others.
func (s *Severed) leftSQL(column string) string {
	if s.Gone && s.ToKey == nil {
		return s.Staying.SQL(column)
	}
	if s.Gone {
		of := func(name string) string { return "named." + catalog.SQLName(name) }
		return "(" + strings.Join(slice.Map(s.Columns(), catalog.SQLName), ", ") + ") IN (SELECT " + strings.Join(slice.Map(s.ToKey, of), ", ") +
			" FROM " + catalog.SQLName(s.To) + " AS named WHERE " + s.Staying.SQL(slice.Map(s.Told, of)...) + ")"
	}
	if s.Left == nil {
		return ""
	}
	return column + " IN (SELECT skipped." + catalog.SQLName(s.ToColumn) + " FROM " + catalog.SQLName(s.To) + " AS skipped WHERE " + s.Left.IntegerSQL("skipped."+catalog.SQLName(s.Left.Column)) + ")"
}
