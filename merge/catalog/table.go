package catalog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/sqltext"
	"mergesafe/merge/keys"
)

// Most is the largest number that a column takes.
func (c *Column) Most(engine string) (most keys.Integer, known bool) {
	declared := strings.ToLower(c.Type)
	name, rest, _ := strings.Cut(declared, "(")
	name, _, _ = strings.Cut(name, " ")
	var digits, scale int
	switch bits := integerBits[name]; {
	case engine == "sqlite" && c.Kind == KindInteger:
		return keys.Integer{Bits: 1<<63 - 1}, true
	case bits > 0 && strings.Contains(declared, "unsigned"):
		return keys.Integer{Bits: 1<<bits - 1}, true
	case bits > 0:
		return keys.Integer{Bits: 1<<(bits-1) - 1}, true
	case c.Kind == KindDecimal:
		fmt.Sscanf(rest, "%d,%d", &digits, &scale)
	case name == "varchar" || name == "char":
		fmt.Sscanf(rest, "%d", &digits)
	}
	if digits -= scale; digits <= 0 {
		return most, false
	}
	if digits > 19 {
		return keys.Integer{Bits: 1<<64 - 1}, true
	}
	n := uint64(1)
	for range digits {
		n *= 10
	}
	return keys.Integer{Bits: n - 1}, true
}

// Checks are the CHECK constraints of a table. The text says which it is: many have
// a name that the database made up. What stands before a literal (_utf8mb4'x', TIME'10:00:00') is left out: MySQL changes it by
// any ALTER TABLE, such as that by which an undo raises a counter.
func (t *Table) Checks() map[string]string {
	all := make(map[string]string)
	for _, c := range t.Conditions {
		if c.Kind == ConditionCheck && !c.Off {
			all["CHECK ("+bareLiterals(c.Text)+")"] = ""
		}
	}
	return all
}

func bareLiterals(sql string) string {
	for _, t := range slices.Backward(sqltext.MySQL(sql)) {
		if t.IsCharset(sql) || t.Keyword("TIME") && strings.HasPrefix(sql[t.End():], "'") {
			sql = sql[:t.Start] + sql[t.End():]
		}
	}
	return sql
}

// ForeignKeys are the foreign keys of a table, with what they do.
func (t *Table) ForeignKeys() map[string]string {
	all := make(map[string]string)
	for _, r := range t.References {
		var does []string
		if r.OnDelete != "" {
			does = append(does, "ON DELETE "+r.OnDelete)
		}
		if r.OnUpdate != "" {
			does = append(does, "ON UPDATE "+r.OnUpdate)
		}
		all["foreign key "+r.Subject()] = cmp.Or(strings.Join(does, " "), "no action")
	}
	return all
}

// Keys names the primary key and the unique indexes by their columns.
func (t *Table) Keys() (keys []string) {
	if len(t.Primary) > 0 {
		keys = append(keys, "primary key "+ColumnList(t.Primary))
	}
	for _, u := range t.Uniques {
		keys = append(keys, "unique "+ColumnList(u.Columns))
	}
	return keys
}

// Column returns the column of that name, or nil.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// Comparable reports whether values of the two columns can be compared: both are
// text of any length and collation, both are integers or bytes of any size, or
// both have one type. Bytes of a fixed length can only be compared with bytes of
// that length: the first world would pad a shorter value, which makes it another one.
func (c *Column) Comparable(other *Column) bool { return c.Class() == other.Class() }

// Class names what a column can be compared with: all columns of one class.
func (c *Column) Class() string {
	switch {
	case c.Collation != "":
		return "a text"
	case c.Kind == KindInteger || c.Kind == KindBytes && !strings.HasPrefix(strings.ToLower(c.Type), "binary("):
		return "of kind " + string(c.Kind)
	default:
		return strings.ToLower(c.Type)
	}
}

// Key returns the columns by which every row of the table can be told from the
// others: the primary key, or a unique index in which no NULL can be. It is
// nil if there is none.
func (t *Table) Key() []string {
	for _, key := range t.RowKeys() {
		return key
	}
	return nil
}

// RowKeys returns all such columns, those of Key first.
func (t *Table) RowKeys() (keys [][]string) {
	if len(t.Primary) > 0 {
		keys = append(keys, t.Primary)
	}
	for _, u := range t.Uniques {
		nullable := func(name string) bool { c := t.Column(name); return c == nil || c.Nullable }
		if u.Unclear == "" && len(u.Columns) > 0 && !slices.ContainsFunc(u.Columns, nullable) {
			keys = append(keys, u.Columns)
		}
	}
	return keys
}

// Keyless says why Key returns nothing.
func (t *Table) Keyless() string {
	const none = "the table has no primary key"
	for _, u := range t.Uniques {
		if u.Unclear == "" {
			return none + ", and its unique index " + ColumnList(u.Columns) + " leaves out rows with NULL"
		}
	}
	return none
}

// Declared is the type of a column; SQLite needs none.
func (c *Column) Declared() string { return cmp.Or(c.Type, "without a type") }

// Describe writes the definition of a column: "VARCHAR(24) NOT NULL COLLATE
// utf8mb4_general_ci".
func (c *Column) Describe() string {
	if c == nil {
		return "no such column"
	}
	s := cmp.Or(c.Type, "no type")
	if !c.Nullable {
		s += " NOT NULL"
	}
	if c.Collation != "" {
		s += " COLLATE " + c.Collation
	}
	if c.Generated != "" {
		s += " AS (" + c.Generated + ")"
	}
	return s
}

// Describe writes the definition of one of the table's columns, but for its
// default.
func (t *Table) Describe(name string) string {
	s := t.Column(name).Describe()
	if t.AutoIncrement != nil && t.AutoIncrement.Column == name {
		s += " AUTO_INCREMENT"
	}
	return s
}

// StoredIn is storage as it counts beside the first world's table: no table of the new database has an engine without
// transactions, and rows from one lose nothing.
func (t *Table) StoredIn(model *Table) string {
	if t.Outside == "" && model.Outside == "" {
		return t.Storage()
	}
	as := *t
	as.Engine = model.Engine
	return as.Storage()
}

// Storage writes how the rows are kept: "InnoDB, partitioned by RANGE(year)".
func (t *Table) Storage() string {
	s := cmp.Or(t.Engine, "no engine")
	if t.Partitions != "" {
		s += ", partitioned by " + t.Partitions
	}
	return s
}

// RowKey returns the columns by which a row is found again: the key, or for
// want of one the columns that were read.
func (t *Table) RowKey(read []string) []string {
	if key := t.Key(); key != nil {
		return key
	}
	return read
}

// Unique reports whether the database itself keeps the values of the columns
// apart, when texts are compared as the model's columns say.
func (t *Table) Unique(columns []string, model *Table) bool {
	for _, name := range columns {
		if t.Column(name).Collation != model.Column(name).Collation {
			return false
		}
	}
	within := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return within(t.Primary) || slices.ContainsFunc(t.Uniques, func(u Unique) bool { return u.Unclear == "" && within(u.Columns) })
}

// OrderBy returns how to sort by the columns under the collations of the model.
func OrderBy(columns []string, model *Table) []Order {
	orders := make([]Order, len(columns))
	for i, name := range columns {
		orders[i] = Order{Column: name, Collation: model.Column(name).Collation}
	}
	return orders
}

func OrderColumns(orders []Order) []string {
	names := make([]string, len(orders))
	for i, o := range orders {
		names[i] = o.Column
	}
	return names
}

// MadeFrom reports whether the database makes a generated column from another one, at once or by way of further ones.
func (t *Table) MadeFrom(made, column string) bool {
	reads := []string{made}
	for i := 0; i < len(reads); i++ {
		by := t.Column(reads[i])
		if by == nil || by.Generated == "" {
			continue
		}
		for _, c := range t.Columns {
			if !slices.Contains(reads, c.Name) && mentions(by.Generated, c.Name) {
				reads = append(reads, c.Name)
			}
		}
	}
	return slices.Contains(reads[1:], column)
}

// mentions reports whether an expression has a name, or a text that is the same: in other words than these it has none.
func mentions(expression, name string) bool {
	return regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(name) + `(\W|$)`).MatchString(expression)
}

// KeyWith are the columns of the key, or of the unique index, that has a column or one that is made from it; nil if none
// has: rows of which the column gets another value may become equal to others.
func (t *Table) KeyWith(column string) []string {
	keys := [][]string{t.Key()}
	for _, u := range t.Uniques {
		keys = append(keys, u.Columns)
	}
	for _, key := range keys {
		if slices.ContainsFunc(key, func(name string) bool { return name == column || t.MadeFrom(name, column) }) {
			return key
		}
	}
	return nil
}
