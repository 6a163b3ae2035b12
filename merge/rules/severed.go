package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Gone says what becomes of a row if the row that it names stays behind.
type Gone string

const (
	GoneDrop Gone = "drop" // it stays behind as well
	GoneNone Gone = "none" // it is copied, with the reference cleared
)

// Severed is a reference to a table whose rows stay behind. It has one column of
// integers, or with Partly those of the key of the table.
type Severed struct {
	Table  string   `json:"table"`
	Column string   `json:"column"`
	And    []string `json:"and,omitempty"` // further columns, in the order of the key
	To     string   `json:"to"`            // the table
	Gone   Gone     `json:"gone"`

	// None are values that name no row, and When selects the rows that it
	// covers. All other rows reference the table, also if their value matches no row.
	None []string `json:"none,omitempty"`
	When *When    `json:"when,omitempty"`

	// Format says with Partly and GoneNone where in the cells of a row the key is, of [keys.Row.SQL]; "": the value is it.
	Format string `json:"format,omitempty"`

	// Partly is set if only some rows of the table stay behind, those of [Stays]: each world has its own.
	// ToColumn is then what names them, the first of several.
	Partly   bool   `json:"partly,omitempty"`
	ToColumn string `json:"to_column,omitempty"`

	// ToKey and ToKinds are set with Partly if it names another key than Told, by which the rows of the table are told.
	ToKey   []string   `json:"to_key,omitempty"`
	ToKinds keys.Kinds `json:"to_kinds,omitempty"`
	Told    []string   `json:"-"`

	// Becomes is, with GoneNone, their new value; nil is NULL.
	Becomes *string `json:"becomes,omitempty"`

	// Counts are the numbers of rows that reference the table, of each world in their order. Of the first it is 0
	// unless Partly: its rows come with those that they refer to.
	Counts []int64 `json:"counts"`

	Staying *keys.Set `json:"-"` // with Partly: the keys of one world
}

// SQL is the condition that a row references the table, as all engines understand it. It is never
// NULL. quote writes the name of a column.
func (s *Severed) SQL(quote func(string) string) string {
	column := quote(s.Column)
	all := []string{column + " IS NOT NULL"}
	if cells, err := keys.ParseRow(s.Format, s.Column, nil); s.Format != "" && err == nil {
		column, all = cells.SQL(quote)
	}
	none, err := keys.ParseValues(s.None)
	values := s.Partly && s.Staying.Kinds != "" && err == nil && s.ToKey == nil
	if s.ToKinds != "" {
		all = append(all, s.namesSQL(quote)...)
	} else if values {
		all = []string{s.Staying.Without(none).SQL(slice.Map(s.Columns(), quote)...)}
	} else if err == nil {
		all = append(all, none.IntegerSQL(column)...)
	}
	if s.When != nil {
		all = append(all, s.When.IntegerSQL(quote(s.When.Column)))
	}
	if s.Partly && !values {
		all = append(all, s.partlySQL(column))
	}
	return "(" + strings.Join(all, " AND ") + ")"
}

// partlySQL is the condition that a column names a row which stays behind.
func (s *Severed) partlySQL(column string) string {
	if s.ToKey == nil {
		return s.Staying.SQL(column)
	}
	of := func(name string) string { return "named." + catalog.SQLName(name) }
	return "(" + strings.Join(slice.Map(s.Columns(), catalog.SQLName), ", ") + ") IN (SELECT " + strings.Join(slice.Map(s.ToKey, of), ", ") +
		" FROM " + catalog.SQLName(s.To) + " AS named WHERE " + s.Staying.SQL(slice.Map(s.Told, of)...) + ")"
}

// namesSQL are the conditions that texts or bytes, or several columns, name a row.
func (s *Severed) namesSQL(quote func(string) string) (all []string) {
	for _, column := range s.And {
		all = append(all, quote(column)+" IS NOT NULL")
	}
	for _, v := range s.None {
		if len(s.And) == 0 {
			all = append(all, fmt.Sprintf("HEX(%s) <> '%X'", quote(s.Column), v))
		}
	}
	return all
}

// Columns are all columns of the reference, in the order of the key that they name.
func (s *Severed) Columns() []string { return append([]string{s.Column}, s.And...) }

// Withholder is an optional interface of a [catalog.Source]: it leaves out rows that are not
// part of a merge.
type Withholder interface {
	// Withhold leaves rows out of the results of Count, Scan and Ends from now on,
	// except for a Scan that asks for them.
	Withhold(rows []catalog.Withheld)

	// Referring counts the rows that reference the table, withheld or not.
	Referring(ctx context.Context, ref *Severed) (int64, error)

	// Orphans counts the rows of a table that are not withheld and reference a row that
	// is.
	Orphans(ctx context.Context, table string, ref *catalog.Reference) (int64, error)
}

// SeveredReference is a reference into a table of which the rows stay behind, where it is said
// what becomes of those that refer there.
type SeveredReference struct {
	Severed
	Ref   *Ref
	Stays bool   // its table is skipped: rows of the first world come with it, and refer to a table that is reset
	Gap   string // why it cannot be followed, if it stays
}

// severedBy is a reference to rows of a table that stay behind.
func severedBy(ref *Ref, to string, gone Gone) *SeveredReference {
	return &SeveredReference{Ref: ref, Severed: Severed{Table: ref.Table, Column: ref.Columns[0], To: to, Gone: gone,
		None: ref.Declared.None, When: ref.When, Counts: []int64{}}}
}

// severed reports whether no row of the table that a reference names comes from the others, and it is said what becomes
// of those that refer there.
func (f *Resolved) severed(ref *Ref) bool { return ref.Declared.Gone != "" && f.Skip[ref.ToTable] }

// severs finds these references.
func severs(f *Resolved) (all []*SeveredReference, err error) {
	for _, table := range f.Tables {
		for _, ref := range f.Declared.Severally(table) {
			if f.severed(ref) && ref.Cells != nil {
				return nil, Unsuitable("%s.%s%s: gone = %q is for references of whole values, and these keys are inside cells: declare the column differently, or leave its table behind too", table, ref.Subject(), ref.Declared.in(), ref.Declared.Gone)
			}
		}
		for _, ref := range AllReferences(f, table) {
			if !f.severed(&ref) {
				continue
			}
			s := severedBy(&ref, ref.ToTable, ref.Declared.Gone)
			if err := validateSevered(s, f); err != nil {
				return nil, Unsuitable("%s.%s, for which gone = %q is set%s: %v", table, ref.Subject(), s.Gone, ref.Declared.in(), err)
			}
			all = append(all, s)
		}
	}
	return append(all, stayingReferences(f)...), nil
}

// stayingReferences are those of rows of the first world that come with tables which are skipped, to tables that are
// empty in the new database.
func stayingReferences(f *Resolved) (all []*SeveredReference) {
	for _, table := range slices.Sorted(maps.Keys(f.Model().Apart)) {
		for _, ref := range AllReferences(f, table) {
			if f.Reset[table] || !f.Reset[ref.ToTable] {
				continue
			}
			s := severedBy(&ref, ref.ToTable, GoneDrop)
			s.Counts, s.Stays = nil, true
			c := f.Model().Apart[table].Column(s.Column)
			if len(ref.Columns) != 1 || !isInteger(c) || s.When != nil && !isInteger(f.Model().Apart[table].Column(s.When.Column)) {
				s.Gap = "the rows that refer to it cannot be counted"
			}
			all = append(all, s)
		}
	}
	return all
}

func isInteger(c *catalog.Column) bool { return c != nil && c.Kind == catalog.KindInteger }

// validateSevered returns an error if what is to become of the rows cannot be done, and chooses
// what they get instead.
func validateSevered(s *SeveredReference, f *Resolved) error {
	switch {
	case len(s.Ref.Columns) == 1:
	case !s.Partly:
		return fmt.Errorf("the reference is of %d columns, want one", len(s.Ref.Columns))
	case s.Gone == GoneNone:
		return fmt.Errorf("the reference is of %d columns, so it is unclear which one to clear: want gone = %q",
			len(s.Ref.Columns), GoneDrop)
	}
	columns, nullable := s.Columns(), s.Format == "" // other keys may be in the cell
	if s.Format != "" {
		columns = s.Ref.Cells.Columns()
	}
	for db, t := range f.Having(s.Table) {
		if s.When != nil && !isInteger(t.Column(s.When.Column)) {
			return fmt.Errorf("in %s the column %s of its condition is not an integer column", db.Name, s.When.Column)
		}
		for _, name := range columns {
			c := t.Column(name)
			if !s.Partly && !isInteger(c) {
				return fmt.Errorf("in %s the column is not an integer column", db.Name)
			}
			nullable = nullable && c.Nullable
			if key := t.KeyWith(name); s.Gone == GoneNone && key != nil {
				return fmt.Errorf("in %s the column is part of a key, %s, so several rows would have the same key: want gone = %q", db.Name, catalog.ColumnList(key), GoneDrop)
			}
			if s.Gone == GoneNone && c.Generated != "" {
				return fmt.Errorf("in %s the column is generated: want gone = %q", db.Name, GoneDrop)
			}
		}
	}
	if s.Gone == GoneDrop {
		return nil
	}
	value := ""
	for _, v := range s.None {
		if n, ok := keys.ParseInteger([]byte(v)); ok && value == "" {
			value = n.String()
		}
	}
	if kinds := f.KindsOf(s.Table, s.Columns()); kinds != "" { // with Partly
		single := slices.IndexFunc(s.None, func(v string) bool { return strings.TrimLeft(v, "<>") == v })
		switch {
		case nullable:
		case kinds[0] == keys.KeyText && single >= 0:
			s.Becomes = &s.None[single]
		default:
			return fmt.Errorf("the column allows no NULL, and none of its texts means no row: declare one in the reference, such as none = [%q]", "")
		}
		return nil
	}
	switch {
	case nullable:
	case value == "" && s.Format != "":
		return fmt.Errorf("no value of the keys inside its cells means no row: declare one in the reference, such as none = [0]")
	case value == "":
		return fmt.Errorf("the column allows no NULL, and none of its values means no row: declare one in the reference, such as none = [0]")
	default:
		s.Becomes = &value
	}
	return nil
}

// Withhold lets the sources leave out the rows that do not come.
func Withhold(f *Resolved) error {
	for _, db := range f.DBs {
		out := WithheldOf(f, db)
		w, able := db.Opened.(Withholder)
		if !able && (len(f.Severed) > 0 || len(out) > 0 || len(f.Opts.Leave) > 0) {
			return Unsuitable("references to rows of %s must be cleared or their rows left behind, but this kind of source cannot select them", db.Name)
		}
		if len(out) > 0 {
			w.Withhold(out)
		}
	}
	return nil
}

// WithheldOf are the rows of a database that do not come, as far as conditions on its columns tell them.
func WithheldOf(f *Resolved, db *Database) (out []catalog.Withheld) {
	if db == f.Model() {
		return nil
	}
	for _, s := range f.Severed {
		if s.Gone == GoneDrop && !s.Stays {
			out = append(out, &s.Severed)
		}
	}
	for _, k := range f.Keeps.Rows(f.Tables) {
		out = append(out, k)
	}
	return slices.DeleteFunc(out, func(o catalog.Withheld) bool { return db.Tables[o.Of()] == nil })
}
