package declare

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rekey"
)

// RowsPolicy says what happens to rows that reference a table whose rows stay behind.
type RowsPolicy string

// The policies of such rows.
const (
	RowsDrop RowsPolicy = "drop" // they stay behind as well
	RowsNone RowsPolicy = "none" // they are copied, with the reference cleared
)

// Severed is a reference to a table whose rows stay behind. It has one column of
// integers, or with Gone those of the key of the table.
type Severed struct {
	Table  string     `json:"table"`
	Column string     `json:"column"`
	And    []string   `json:"and,omitempty"` // further columns, in the order of the key
	To     string     `json:"to"`            // the table
	Rows   RowsPolicy `json:"rows"`

	// None are values that name no row, and When selects the rows that it
	// covers. All other rows reference the table, also if their value matches no row.
	None []string `json:"none,omitempty"`
	When *When    `json:"when,omitempty"`

	// ToColumn and Left are set if only some rows of the table stay behind: a row references
	// them if it names one of them by that column.
	ToColumn string `json:"to_column,omitempty"`
	Left     *When  `json:"left,omitempty"`

	// Gone is set if the rows of the table that stay behind are those of [Stays]: each world has its own.
	Gone bool `json:"gone,omitempty"`

	// ToKey and ToKinds are set with Gone if it names another key than Told, by which the rows of the table are told.
	ToKey   []string    `json:"to_key,omitempty"`
	ToKinds rekey.Kinds `json:"to_kinds,omitempty"`
	Told    []string    `json:"-"`

	// Becomes is, with RowsNone, their new value; nil is NULL.
	Becomes *string `json:"becomes,omitempty"`

	// Counts are the numbers of rows that reference the table, of each world in their order. Of the first it is 0
	// unless Gone: its rows come with those that they refer to.
	Counts []int64 `json:"counts"`

	Staying *rekey.Set `json:"-"` // with Gone: the keys of one world
}

// SQL is the condition that a row references the table, as all engines understand it. It is never
// NULL. quote writes the name of a column.
func (s *Severed) SQL(quote func(string) string) string {
	if s.Column == "" { // see LeftRows.all
		return s.When.IntegerSQL(quote(s.When.Column))
	}
	column := quote(s.Column)
	all := []string{column + " IS NOT NULL"}
	none, err := rekey.ParseValues(s.None)
	values := s.Gone && s.Staying.Kinds != "" && err == nil && s.ToKey == nil
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
	if left := s.leftSQL(column); left != "" && !values {
		all = append(all, left)
	}
	return "(" + strings.Join(all, " AND ") + ")"
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
func severedBy(ref *Ref, to string, rows RowsPolicy) *SeveredReference {
	return &SeveredReference{Ref: ref, Severed: Severed{Table: ref.Table, Column: ref.Columns[0], To: to, Rows: rows,
		None: ref.Declared.None, When: ref.When, Counts: []int64{}}}
}

// severs finds these references.
func severs(f *Resolved) (all []*SeveredReference, err error) {
	for _, table := range f.Tables {
		for _, ref := range f.Declared.Severally(table) {
			if rows := f.becomes(ref); rows != "" && ref.Cells != nil {
				return nil, Unsuitable("%s.%s%s: gone = %q is for references of whole values, and these keys are inside cells: declare the column otherwise, or leave its table behind, too", table, ref.Subject(), ref.Declared.in(), rows)
			}
		}
		for _, ref := range AllReferences(f, table) {
			partly, err := severedPartly(f, table, &ref)
			if err != nil {
				return nil, Unsuitable("%s.%s, for which gone = %q is set%s: %v", table, ref.Subject(), RowsDrop, ref.Declared.in(), err)
			}
			if partly != nil {
				all = append(all, partly)
			}
			rows := f.becomes(&ref)
			if rows == "" {
				continue
			}
			s := severedBy(&ref, ref.ToTable, rows)
			if err := validateSevered(s, f); err != nil {
				return nil, Unsuitable("%s.%s, for which gone = %q is set%s: %v", table, ref.Subject(), rows, ref.Declared.in(), err)
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
			s := severedBy(&ref, ref.ToTable, RowsDrop)
			s.Counts, s.Stays = nil, true
			c := f.Model().Apart[table].Column(s.Column)
			if len(ref.Columns) != 1 || !isInteger(c) || s.When != nil && !isInteger(f.Model().Apart[table].Column(s.When.Column)) {
				s.Gap = "the rows that refer there by it cannot be counted"
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
	case !s.Gone:
		return fmt.Errorf("the reference is of %d columns, want one", len(s.Ref.Columns))
	case s.Rows == RowsNone:
		return fmt.Errorf("the reference is of %d columns, so which one is to be cleared cannot be told: want gone = %q",
			len(s.Ref.Columns), RowsDrop)
	}
	nullable, foreign := true, false
	for db, t := range f.Having(s.Table) {
		c := t.Column(s.Column)
		if !s.Gone && !isInteger(c) {
			return fmt.Errorf("in %s the column is not an integer column", db.Name)
		}
		if s.When != nil && !isInteger(t.Column(s.When.Column)) {
			return fmt.Errorf("in %s the column %s of its condition is not an integer column", db.Name, s.When.Column)
		}
		nullable = nullable && c.Nullable
		foreign = foreign || ForeignKey(f, s.Table, s.Column)
		inKey := func(columns []string) bool { return slices.Contains(columns, s.Column) }
		if s.Rows == RowsNone && (inKey(t.Key()) || slices.ContainsFunc(t.Uniques, func(u catalog.Unique) bool { return inKey(u.Columns) })) {
			return fmt.Errorf("in %s the column is part of a key, so several rows would have the same key: want gone = %q", db.Name, RowsDrop)
		}
		if s.Rows == RowsNone && c.Generated != "" {
			return fmt.Errorf("in %s the column is generated: want gone = %q", db.Name, RowsDrop)
		}
	}
	if s.Rows == RowsDrop {
		return nil
	}
	value := ""
	for _, v := range s.None {
		if n, ok := rekey.ParseInteger([]byte(v)); ok && value == "" {
			value = n.String()
		}
	}
	if kinds := f.KindsOf(s.Table, s.Columns()); kinds != "" { // with Gone
		single := slices.IndexFunc(s.None, func(v string) bool { return strings.TrimLeft(v, "<>") == v })
		switch {
		case nullable:
		case kinds[0] == rekey.KeyText && single >= 0:
			s.Becomes = &s.None[single]
		default:
			return fmt.Errorf("the column allows no NULL, and no text of it means no row: declare one in the reference, such as none = [%q]", "")
		}
		return nil
	}
	if value == "" && !nullable {
		return fmt.Errorf("the column allows no NULL, and no value of it means no row: declare one in the reference, such as none = [0]")
	}
	if value != "" && !(nullable && foreign) {
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
			return Unsuitable("references of rows of %s are to be cleared or their rows left behind, and this kind of source cannot select them", db.Name)
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
		if s.Rows == RowsDrop && !s.Stays {
			out = append(out, &s.Severed)
		}
	}
	for _, k := range f.Keeps.Rows(f.Tables) {
		out = append(out, k)
	}
	for _, l := range LeftOf(f) {
		out = append(out, l)
	}
	return slices.DeleteFunc(out, func(o catalog.Withheld) bool { return db.Tables[o.Of()] == nil })
}
