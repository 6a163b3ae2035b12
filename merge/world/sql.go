package world

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// Dialect writes the statements that differ between kinds of databases.
type Dialect struct{ sqldb.Dialect }

func (d Dialect) MySQL() bool { return d.Dialect == sqldb.MySQL }

// read is the expression that reads a column so that the driver does not convert
// the value: a date stays the text that the database writes.
func (d Dialect) read(c *catalog.Column) string {
	name := d.Quote(c.Name)
	if !d.MySQL() {
		return "+" + name // an expression has no declared type to convert to
	}
	declared := strings.ToLower(c.Type)
	if declared == "json" {
		// What a text cannot carry is no JSON as it is read, and so cannot be written.
		return "IF(" + d.TextKeeps(c) + ", CAST(" + name + " AS CHAR), CONCAT('typed ', CAST(" + name + " AS CHAR)))"
	}
	for _, prefix := range []string{"date", "timestamp"} { // datetime too
		if strings.HasPrefix(declared, prefix) {
			return "CAST(" + name + " AS CHAR)"
		}
	}
	return name
}

// TextKeeps is the condition that a value of MySQL's type JSON is the same when it
// was sent as text. A DATE, TIME, DATETIME or bytes inside become strings, and a
// DECIMAL becomes a DOUBLE: that is the same if it is equal and has the same digits.
func (d Dialect) TextKeeps(c *catalog.Column) string {
	name := d.Quote(c.Name)
	sent := "CAST(CAST(" + name + " AS CHAR) AS JSON)"
	return name + " = " + sent + " AND CAST(" + name + " AS BINARY) = CAST(" + sent + " AS BINARY)"
}

// Layout is how the rows of one table are read and written: the columns that
// can be written, in the order of the new database, and which of them are the key.
type Layout struct {
	Dialect Dialect
	Table   string
	Columns []string
	Reads   []string // expressions
	Types   []string // as the database prints them; empty where it does not enforce them
	Text    []bool   // key columns that hold text, which the driver gives as bytes
	big     []bool   // columns whose integers may lie beyond int64; nil: none
	direct  []bool   // columns that LOAD DATA fills by itself: they take bytes, and do not count; see [Connection.Bulk]
	Key     []int    // none for a multiset
	Counts  string   // the column with AUTO_INCREMENT, or AUTOINCREMENT; empty: none

	Numbers []*numbering // of the columns that are compared by a number; nil: none
}

// NewLayout returns the layout of a table that has no key, or one of columns that
// can be written.
func NewLayout(d Dialect, t *catalog.Table) *Layout {
	l := &Layout{Dialect: d, Table: t.Name}
	if t.AutoIncrement != nil {
		l.Counts = t.AutoIncrement.Column
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated != "" {
			continue
		}
		l.Columns = append(l.Columns, c.Name)
		if l.Types = append(l.Types, ""); d.MySQL() {
			l.Types[len(l.Types)-1] = c.Type
		}
		l.Text = append(l.Text, d.MySQL() && c.Collation != "" && slices.Contains(t.Key(), c.Name))
		l.direct = append(l.direct, takesBytes(c) && l.Counts != c.Name)
		l.big = append(l.big, d.MySQL() && strings.HasPrefix(strings.ToLower(c.Type), "bigint"))
		numbers := NewNumbering(l.Types[len(l.Types)-1])
		l.Numbers, l.Reads = append(l.Numbers, numbers), append(l.Reads, d.read(c))
		if numbers.Ambiguous() && slices.Contains(t.Key(), c.Name) {
			l.Reads[len(l.Reads)-1] = fmt.Sprintf("IF(%s = 0, NULL, %[1]s)", d.Quote(c.Name))
		}
	}
	for _, name := range t.Key() {
		l.Key = append(l.Key, slices.Index(l.Columns, name))
	}
	if slices.Contains(l.Key, -1) { // the database generates a part of it
		l.Key = nil
	}
	return l
}

// Bulk reports whether [Connection.Bulk] takes rows of the table.
func (l *Layout) Bulk() bool { return l.Dialect.MySQL() && len(l.direct) == len(l.Columns) }

func (l *Layout) KeyColumns() []string {
	names := make([]string, len(l.Key))
	for i, k := range l.Key {
		names[i] = l.Columns[k]
	}
	return names
}

// KeyOf returns the values of the key of a row.
func (l *Layout) KeyOf(row []any) []any {
	values := make([]any, len(l.Key))
	for i, k := range l.Key {
		values[i] = row[k]
	}
	return values
}

func (l *Layout) SelectFrom() string {
	return "SELECT " + strings.Join(l.Reads, ", ") + " FROM " + l.Dialect.Quote(l.Table)
}

// Where is a WHERE with conditions, without the empty ones.
func Where(conditions ...string) string {
	conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "" })
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// page is the statement that reads rows in the order of the key, and its arguments: so many rows of those that
// meet a condition, the first ones or those after a key.
func (l *Layout) page(after []any, condition string, n int) (query string, args []any) {
	beyond := ""
	if after != nil {
		beyond, args = l.After(after)
	}
	order := " ORDER BY " + l.Dialect.QuoteAll(l.KeyColumns()) + " LIMIT ?"
	return l.SelectFrom() + Where(beyond, condition) + order, append(args, n)
}

// After is the condition for the keys after one, with its arguments.
// SQLite looks a row of values up in the index, MariaDB only single values.
func (l *Layout) After(key []any) (condition string, args []any) {
	names, bound := l.KeyColumns(), l.Bound(key)
	if !l.Dialect.MySQL() {
		return "(" + l.Dialect.QuoteAll(names) + ") > (" + sqldb.Marks(len(names)) + ")", bound
	}
	var ways []string
	for i, name := range names {
		var conditions []string
		for before := range i {
			conditions, args = append(conditions, l.KeyCondition(before)), append(args, bound[before])
		}
		beyond, more := l.numbering(i).after(l.Dialect.Quote(name), key[i])
		ways, args = append(ways, strings.Join(append(conditions, beyond), " AND ")), append(args, more...)
	}
	return "((" + strings.Join(ways, ") OR (") + "))", args
}

// numbering is that of a column of the key; nil for one that is compared as it is read.
func (l *Layout) numbering(i int) *numbering {
	if l.Numbers == nil {
		return nil
	}
	return l.Numbers[l.Key[i]]
}

// Lists reports whether the keys after one are told by a list of the values of an ENUM: then there are as many such
// statements as values.
func (l *Layout) Lists() bool {
	for i := range l.Key {
		if n := l.numbering(i); n != nil && n.kind == "enum" {
			return true
		}
	}
	return false
}

// KeyCondition is the condition that a column of the key has one value.
func (l *Layout) KeyCondition(i int) string {
	return l.Dialect.Quote(l.Columns[l.Key[i]]) + " = " + l.numbering(i).mark()
}

// Bound are the arguments for a key, in the place of the marks for it.
func (l *Layout) Bound(key []any) []any {
	args := make([]any, len(key))
	for i, v := range key {
		args[i] = l.numbering(i).bound(v)
	}
	return args
}

// BoundOf are the arguments for the keys of rows.
func (l *Layout) BoundOf(rows [][]any) (args []any) {
	for _, row := range rows {
		args = append(args, l.Bound(l.KeyOf(row))...)
	}
	return args
}

// Insert is the statement that inserts n rows.
func (l *Layout) Insert(n int) string {
	row := "(" + sqldb.Marks(len(l.Columns)) + ")"
	return "INSERT INTO " + l.Dialect.Quote(l.Table) + " (" + l.Dialect.QuoteAll(l.Columns) + ") VALUES " +
		strings.Repeat(row+", ", n-1) + row
}

// Equal is the condition for n keys, with the arguments of [Layout.Bound] for each.
func (l *Layout) Equal(n int) string {
	if len(l.Key) == 1 {
		marks := strings.Repeat(l.numbering(0).mark()+", ", n-1) + l.numbering(0).mark()
		return l.Dialect.Quote(l.Columns[l.Key[0]]) + " IN (" + marks + ")"
	}
	conditions := make([]string, len(l.Key))
	for i := range conditions {
		conditions[i] = l.KeyCondition(i)
	}
	one := "(" + strings.Join(conditions, " AND ") + ")"
	return strings.Repeat(one+" OR ", n-1) + one
}

// SelectEqual is the statement that reads the rows with n keys.
func (l *Layout) SelectEqual(n int) string { return l.SelectFrom() + " WHERE " + l.Equal(n) }

// perStatement is the most rows in one statement: more are no faster.
const perStatement = 500

// Most is the most rows of n values each in one statement.
func (d Dialect) Most(n int) int {
	return max(1, min(perStatement, d.Words().MaxArgs/n))
}
