package rules

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mergesafe/merge/catalog"
)

// RenamedColumn is a column that has to be unique, and of which values that several
// rows have are changed when the databases are merged, so that one row keeps each.
type RenamedColumn struct {
	Table  string `json:"table"`
	Column string `json:"column"`

	// First says that the first row keeps the value, in the order of the databases, the
	// first world before the others. Otherwise any of them may.
	First bool `json:"first,omitempty"`

	// MaxLength is how many characters a value may have; 0: as many as the type of the column
	// says.
	MaxLength int `json:"max_length,omitempty"`

	// None are values that are not names, as in [DeclaredUnique]: they stay.
	None []string `json:"none,omitempty"`

	// Set are the values of other columns of a row whose name is changed.
	Set []Setting `json:"set,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// NameCopy is a column that repeats what the column OfColumn of OfTable holds in the
// row whose key is in Key: the name of the sender beside the sender of a
// mail. It is renamed with it if it is the old name, byte by byte.
type NameCopy struct {
	Table    string `json:"table"`
	Column   string `json:"column"`
	Key      string `json:"key"`
	OfTable  string `json:"of_table"`
	OfColumn string `json:"of_column"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// What names the statement in messages.
func (c NameCopy) What() string { return "reference with by" + in(c.File, c.Line) }

// Follows reports whether a column changes with a name, by a [[check.reference]] with by: that says what it holds.
func (f *Resolved) Follows(table, column string) bool {
	return slices.ContainsFunc(f.Opts.Copies, func(c NameCopy) bool { return c.Table == table && c.Column == column })
}

// newNames gives the columns of a table that get new names: by [[merge.name]], or along with the row that by names.
func (f *Resolved) newNames(table string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range f.Opts.Renames {
			if n.Table == table && !yield(n.Column) {
				return
			}
		}
		for _, c := range f.Opts.Copies {
			if c.Table == table && !yield(c.Column) {
				return
			}
		}
	}
}

// Unchangeable says why the values of a column cannot be changed in a merge, row by row; "" if they can. A foreign key
// follows names, and so leads to one.
func (f *Resolved) Unchangeable(table, column string) string {
	tables := f.Model().Catalog.Tables
	i := slices.IndexFunc(tables, func(t catalog.Table) bool { return t.Name == table })
	if i < 0 || tables[i].Column(column) == nil {
		return fmt.Sprintf("the first world has no column %s.%s", table, column)
	}
	for _, other := range tables {
		for _, r := range other.References {
			from := other.Name == table && slices.Contains(r.Columns, column)
			switch to := r.ToTable == table && slices.Contains(r.ToColumns, column); {
			case (from || to) && len(r.Columns) > 1:
				return fmt.Sprintf("the column %s is part of a foreign key of several columns, so its values cannot be changed", column)
			case from && !f.isName(ColumnName{r.ToTable, r.ToColumns[0]}):
				return fmt.Sprintf("the column %s refers to %s by a foreign key, which gets no new names: declare the [[merge.name]] for that", column, Place(r.ToTable, r.ToColumns[0]))
			}
		}
	}
	return ""
}

var typeWithLength = regexp.MustCompile(`(?i)^\s*(?:n?varchar|n?char|character varying|character)\s*\(\s*(\d+)\s*\)`)

// Characters is how many characters the type of a column says that it takes; 0 if it does not
// say.
func Characters(c *catalog.Column) (most int) {
	if m := typeWithLength.FindStringSubmatch(c.Type); m != nil {
		most, _ = strconv.Atoi(m[1])
	}
	return most
}

var (
	typeWithBytes = regexp.MustCompile(`(?i)^\s*varbinary\s*\(\s*(\d+)\s*\)`)
	padded        = regexp.MustCompile(`(?i)^\s*binary\b`)
)

// Bytes is how many bytes the type of a column says that it takes; 0 if it does not say, or says
// [Characters].
func Bytes(c *catalog.Column) (most int) {
	if m := typeWithBytes.FindStringSubmatch(c.Type); m != nil {
		most, _ = strconv.Atoi(m[1])
		return most
	}
	return map[string]int{"tinyblob": 1<<8 - 1, "blob": 1<<16 - 1}[strings.ToLower(c.Type)]
}

// Unnamable says why no new values can be made for a column of an engine; "" if they can.
func Unnamable(engine string, c *catalog.Column, maxLength int) string {
	if engine != "sqlite" && padded.MatchString(c.Type) {
		return fmt.Sprintf("the type of %s, %q, pads names with zero bytes, so no new name can be made from one: change it to VARBINARY in all databases", c.Name, c.Type)
	}
	if maxLength > 0 || Characters(c) > 0 || Bytes(c) > 0 {
		return ""
	}
	return fmt.Sprintf("the type of %s, %q, does not say how many characters it holds: set max in its [[merge.name]], such as max = 32", c.Name, c.Type)
}

// Renamed returns what is declared of a column that is renamed; nil if it is not.
func Renamed(f *Resolved, table string, columns []string) *RenamedColumn {
	i := slices.IndexFunc(f.Opts.Renames, func(c RenamedColumn) bool { return c.Table == table && slices.Equal(columns, []string{c.Column}) })
	if i < 0 {
		return nil
	}
	return &f.Opts.Renames[i]
}
