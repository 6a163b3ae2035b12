package rules

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Some rows are the same thing in several worlds: an account, by its login name. Of a space
// with Match, the key of such a row of a world becomes the key that the same thing has in
// the first world, or in a world before its own; all other keys get a number added as ever. What is
// the same is told by other columns of the row, its natural key, as the first world compares them. A
// row of which one of these is NULL or empty is the same as no other.
//
// The row itself is then there twice with one key. It is combined, by the formulas of the
// table's policy or, if it has none, in such a way that all columns stay as the first world has them.

// MatchedBy is what tells that rows of several worlds are the same thing.
type MatchedBy struct {
	Table   string   `json:"table"`
	Key     string   `json:"key"`     // the column with the keys of the space
	Columns []string `json:"columns"` // the natural key
}

func (m *MatchedBy) String() string {
	all := slice.Map(m.Columns, func(c string) string { return Place(m.Table, c) })
	return strings.Join(all, ", ")
}

// MapFrom is the plan of another merge, by which a space moves.
type MapFrom struct {
	File   string `json:"file"`
	Digest string `json:"digest"` // SHA-256 of the file, in hexadecimal digits

	// Space is its name in the other plan. Offsets and Matched say which keys its rows get,
	// by source.
	Space   string                 `json:"space"`
	Offsets map[string]uint64      `json:"offsets"`
	Matched map[string]*keys.Pairs `json:"matched,omitempty"`
}

// matches reports whether keys of the space may become those of other rows.
func (k *KeySpace) matches() bool {
	return k.By != nil || k.Map != nil && len(k.Map.Matched) > 0
}

// matchBy resolves the natural key of a space.
func matchBy(f *Resolved, n Names, k *KeySpace) error {
	if len(k.Match) == 0 {
		return nil
	}
	if k.Keep != "" {
		return fmt.Errorf("match: a space has keep or match, not both: kept rows are already the same in every world")
	}
	by := new(MatchedBy)
	for _, text := range k.Match {
		err := n.each(text, func(at ColumnName, exact bool) error {
			switch {
			case !exact:
				return fmt.Errorf("%q is a pattern: want the names of columns", text)
			case by.Table != "" && by.Table != at.Table:
				return fmt.Errorf("%q is not a column of %s: want columns of one table", text, by.Table)
			case slices.Contains(by.Columns, at.Column):
				return fmt.Errorf("%q is given twice", text)
			}
			by.Table, by.Columns = at.Table, append(by.Columns, at.Column)
			return nil
		})
		if err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for _, at := range k.Columns {
		if at.Table != by.Table {
			continue
		}
		if by.Key != "" {
			return fmt.Errorf("match: %s has two keys of the space: want one", by.Table)
		}
		by.Key = at.Column
	}
	switch {
	case f.Skip[by.Table]:
		return fmt.Errorf("match: the rows of %s stay behind ([[merge.table]]), so none of them can be matched", by.Table)
	case len(k.Columns) == 0:
		return fmt.Errorf("match: the space has no keys: want also keys, with the key of %s", by.Table)
	case by.Key == "":
		return fmt.Errorf("match: %s has no key of the space, whose keys are %s", by.Table, columnNames(k.Columns))
	case slices.Contains(by.Columns, by.Key):
		return fmt.Errorf("match: %s is the key itself: want columns that identify what a row stands for, such as a login name", Place(by.Table, by.Key))
	}
	k.By = by
	return combineMatched(f, by)
}

func columnNames(all []ColumnName) string {
	names := slice.Map(all, ColumnName.String)
	return catalog.Few(names)
}

// combineMatched makes the rows that are matched one: if the operator did not say how, the
// first world's stays as it is.
func combineMatched(f *Resolved, by *MatchedBy) error {
	_, model := f.ModelOf(by.Table)
	if model == nil {
		return nil
	}
	key := model.Key()
	if key == nil || slices.ContainsFunc(key, func(name string) bool { return name != by.Key && !slices.Contains(by.Columns, name) }) {
		return fmt.Errorf("match: the key of table %s is %s: want %s alone, so that a matched row occurs once", by.Table, catalog.ColumnList(key), by.Key)
	}
	c := f.Combined[by.Table]
	if c == nil {
		c = &Combined{Table: by.Table, Combining: Combining{Columns: []CombinedColumn{}, Matched: true}}
		for _, col := range model.Columns {
			if !slices.Contains(key, col.Name) && col.Generated == "" {
				c.Columns = append(c.Columns, CombinedColumn{col.Name, Formula{Op: FormulaFirst}})
			}
		}
		f.Combined[by.Table] = c
		return nil
	}
	for _, name := range by.Columns {
		if formula := c.Formula(name); !slices.Contains(key, name) && formula.Op == FormulaSame {
			c.Columns = append(c.Columns, CombinedColumn{name, Formula{Op: FormulaFirst}}) // equal, perhaps in other letters
		} else if !formula.chooses() && formula.Op != FormulaSame {
			return fmt.Errorf("match: %s identifies a row, so it cannot be combined by %q: want \"first\" or \"last\"", Place(by.Table, name), formula)
		}
	}
	slices.SortFunc(c.Columns, func(a, b CombinedColumn) int { return strings.Compare(a.Column, b.Column) })
	return nil
}

// mapFrom takes what another plan says of a space.
func mapFrom(f *Resolved, k *KeySpace) error {
	if k.Map == nil {
		return nil
	}
	if len(k.Match) > 0 || len(k.Offsets) > 0 || k.Keep != "" {
		return fmt.Errorf("map: %s decides which keys the rows get: remove match, offset and keep", k.Map.File)
	}
	k.Offsets = make(map[string]uint64)
	for _, db := range OthersOf(f) {
		offset, known := k.Map.Offsets[db.Name]
		if !known {
			return fmt.Errorf("map: %s has no world named %q: both merges need the same worlds with the same names", k.Map.File, db.Name)
		}
		k.Offsets[db.Name] = offset
	}
	return nil
}

// matchContradiction says what of matched spaces cannot be.
func (m *Moving) matchContradiction() error {
	for _, k := range m.Spaces {
		if k.By == nil {
			continue
		}
		for _, name := range k.By.Columns {
			if m.Columns[ColumnName{k.By.Table, name}] != nil {
				return Unsuitable("space %q%s: match: the values of %s change themselves, so they do not identify a row", k.Name, in(k.File, k.Line), Place(k.By.Table, name))
			}
		}
	}
	for _, at := range m.InOrder() {
		cases := m.Columns[at].Cases
		for i, a := range cases {
			for _, b := range cases[:i] {
				if a.Space != b.Space && a.Ref != nil && b.Ref != nil && (a.Space.matches() || b.Space.matches()) && a.Ref.Identity() == b.Ref.Identity() {
					return Unsuitable("%s%s refers to keys of %q and of %q, and those of one are matched: declare which rows refer to which (when)", at, a.in(), b.Space.Name, a.Space.Name)
				}
			}
		}
	}
	return nil
}
