package merge

import (
	"cmp"
	"slices"
	"strings"
)

// column returns the column of that name, or nil.
func (t *Table) column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return &t.Columns[i]
		}
	}
	return nil
}

// comparable reports whether values of the two columns can be compared: both are
// text of any length and collation, both are integers or bytes of any size, or
// both have one type. Bytes of a fixed length can only be compared with bytes of
// that length: the target would pad a shorter value, which makes it another one.
func (c *Column) comparable(other *Column) bool { return c.class() == other.class() }

// class names what a column can be compared with: all columns of one class.
func (c *Column) class() string {
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
	if len(t.Primary) > 0 {
		return t.Primary
	}
	for _, u := range t.Uniques {
		nullable := func(name string) bool { c := t.column(name); return c == nil || c.Nullable }
		if u.Unclear == "" && len(u.Columns) > 0 && !slices.ContainsFunc(u.Columns, nullable) {
			return u.Columns
		}
	}
	return nil
}

// keyless says why Key returns nothing.
func (t *Table) keyless() string {
	const none = "the table has no primary key"
	for _, u := range t.Uniques {
		if u.Unclear == "" {
			return none + ", and its unique index " + columnList(u.Columns) + " leaves out rows with NULL"
		}
	}
	return none
}

// describe writes the definition of a column: "VARCHAR(24) NOT NULL COLLATE
// utf8mb4_general_ci".
func (c *Column) describe() string {
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

// describe writes the definition of one of the table's columns, but for its
// default.
func (t *Table) describe(name string) string {
	s := t.column(name).describe()
	if t.AutoIncrement != nil && t.AutoIncrement.Column == name {
		s += " AUTO_INCREMENT"
	}
	return s
}

// storedIn is storage as it counts beside the target's table: from an engine without
// transactions, rows go to one that has them and lose nothing.
func (t *Table) storedIn(model *Table) string {
	if t.Outside == "" || model.Outside != "" {
		return t.storage()
	}
	as := *t
	as.Engine = model.Engine
	return as.storage()
}

// storage writes how the rows are kept: "InnoDB, partitioned by RANGE(year)".
func (t *Table) storage() string {
	s := cmp.Or(t.Engine, "no engine")
	if t.Partitions != "" {
		s += ", partitioned by " + t.Partitions
	}
	return s
}

// rowKey returns the columns by which a row is found again: the key, or for
// want of one the columns that were read.
func (t *Table) rowKey(read []string) []string {
	if key := t.Key(); key != nil {
		return key
	}
	return read
}

// unique reports whether the database itself keeps the values of the columns
// apart, when texts are compared as the model's columns say.
func (t *Table) unique(columns []string, model *Table) bool {
	for _, name := range columns {
		if t.column(name).Collation != model.column(name).Collation {
			return false
		}
	}
	within := func(key []string) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(name string) bool { return !slices.Contains(columns, name) })
	}
	return within(t.Primary) || slices.ContainsFunc(t.Uniques, func(u Unique) bool { return u.Unclear == "" && within(u.Columns) })
}

// order returns how to sort by the columns under the collations of the model.
func order(columns []string, model *Table) []Order {
	orders := make([]Order, len(columns))
	for i, name := range columns {
		orders[i] = Order{Column: name, Collation: model.column(name).Collation}
	}
	return orders
}

func orderColumns(orders []Order) []string {
	names := make([]string, len(orders))
	for i, o := range orders {
		names[i] = o.Column
	}
	return names
}
