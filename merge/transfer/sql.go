package transfer

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// dialect writes the statements that differ between kinds of databases.
type dialect struct{ sqldb.Dialect }

func (d dialect) mysql() bool { return d.Dialect == sqldb.MySQL }

// read is the expression that reads a column so that the driver does not convert
// the value: a date stays the text that the database writes.
func (d dialect) read(c *merge.Column) string {
	name := d.Quote(c.Name)
	if !d.mysql() {
		return "+" + name // an expression has no declared type to convert to
	}
	declared := strings.ToLower(c.Type)
	if declared == "json" {
		// What a text cannot carry is no JSON as it is read, and so cannot be written.
		return "IF(" + d.textKeeps(c) + ", CAST(" + name + " AS CHAR), CONCAT('typed ', CAST(" + name + " AS CHAR)))"
	}
	for _, prefix := range []string{"date", "timestamp"} { // datetime too
		if strings.HasPrefix(declared, prefix) {
			return "CAST(" + name + " AS CHAR)"
		}
	}
	return name
}

// textKeeps is the condition that a value of MySQL's type JSON is the same when it
// was sent as text. A DATE, TIME, DATETIME or bytes inside become strings, and a
// DECIMAL becomes a DOUBLE: that is the same if it is equal and has the same digits.
func (d dialect) textKeeps(c *merge.Column) string {
	name := d.Quote(c.Name)
	sent := "CAST(CAST(" + name + " AS CHAR) AS JSON)"
	return name + " = " + sent + " AND CAST(" + name + " AS BINARY) = CAST(" + sent + " AS BINARY)"
}

// layout is how the rows of one table are read and written: the columns that
// can be written, in the order of the target, and which of them are the key.
type layout struct {
	dialect dialect
	table   string
	columns []string
	reads   []string // expressions
	types   []string // as the database prints them; empty where it does not enforce them
	text    []bool   // key columns that hold text, which the driver gives as bytes
	big     []bool   // columns whose integers may lie beyond int64; nil: none
	key     []int    // none for a multiset

	numbers []*numbering // of the columns that are compared by a number; nil: none

	index    string // of the key, as MariaDB and MySQL call it
	identity string // of a multiset: the expression that tells its rows apart
}

// newLayout returns the layout of a table that has no key, or one of columns that
// can be written.
func newLayout(d dialect, t *merge.Table) *layout {
	l := &layout{dialect: d, table: t.Name}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated != "" {
			continue
		}
		l.columns = append(l.columns, c.Name)
		if l.types = append(l.types, ""); d.mysql() {
			l.types[len(l.types)-1] = c.Type
		}
		l.text = append(l.text, d.mysql() && c.Collation != "" && slices.Contains(t.Key(), c.Name))
		l.big = append(l.big, d.mysql() && strings.HasPrefix(strings.ToLower(c.Type), "bigint"))
		numbers := newNumbering(l.types[len(l.types)-1])
		l.numbers, l.reads = append(l.numbers, numbers), append(l.reads, d.read(c))
		if numbers.ambiguous() && slices.Contains(t.Key(), c.Name) {
			l.reads[len(l.reads)-1] = fmt.Sprintf("IF(%s = 0, NULL, %[1]s)", d.Quote(c.Name))
		}
	}
	if len(t.Primary) > 0 {
		l.index = "PRIMARY"
	} else if i := slices.IndexFunc(t.Uniques, func(u merge.Unique) bool { return slices.Equal(u.Columns, t.Key()) }); i >= 0 {
		l.index = t.Uniques[i].Name
	}
	for _, name := range t.Key() {
		l.key = append(l.key, slices.Index(l.columns, name))
	}
	if slices.Contains(l.key, -1) { // the database generates a part of it
		l.key = nil
	}
	if l.multiset() {
		l.identity = d.identity(t)
	}
	return l
}

func (l *layout) keyColumns() []string {
	names := make([]string, len(l.key))
	for i, k := range l.key {
		names[i] = l.columns[k]
	}
	return names
}

// keyOf returns the values of the key of a row.
func (l *layout) keyOf(row []any) []any {
	values := make([]any, len(l.key))
	for i, k := range l.key {
		values[i] = row[k]
	}
	return values
}

func (l *layout) selectFrom() string {
	return "SELECT " + strings.Join(l.reads, ", ") + " FROM " + l.dialect.Quote(l.table)
}

// where is a WHERE with conditions, without the empty ones.
func where(conditions ...string) string {
	conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "" })
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// page is the statement that reads rows in the order of the key, and its arguments: so many rows of those that
// meet a condition, the first ones or those after a key.
func (l *layout) page(after []any, condition string, n int) (query string, args []any) {
	beyond := ""
	if after != nil {
		beyond, args = l.after(after)
	}
	order := " ORDER BY " + l.dialect.QuoteAll(l.keyColumns()) + " LIMIT ?"
	return l.selectFrom() + where(beyond, condition) + order, append(args, n)
}

// after is the condition for the keys after one, with its arguments.
func (l *layout) after(key []any) (condition string, args []any) { return l.compared(">", key) }

// within is the condition for the keys from one to before another, with its arguments.
// MariaDB locks the first row beyond such rows too: with the last of them
// left to [layout.equal], that is one of ours, and workers do not meet there.
func (l *layout) within(low, high []any) (condition string, args []any) {
	from, args := l.compared(">=", low)
	before, more := l.compared("<", high)
	return from + " AND " + before, append(args, more...)
}

// compared is the condition for the keys that compare with one in that way, with its arguments.
// SQLite looks a row of values up in the index, MariaDB only single values.
func (l *layout) compared(how string, key []any) (condition string, args []any) {
	names, bound := l.keyColumns(), l.bound(key)
	if !l.dialect.mysql() {
		return "(" + l.dialect.QuoteAll(names) + ") " + how + " (" + sqldb.Marks(len(names)) + ")", bound
	}
	var ways []string
	for i, name := range names {
		var conditions []string
		for before := range i {
			conditions, args = append(conditions, l.is(before)), append(args, bound[before])
		}
		with := how[:1] // only the last column may be equal
		if i == len(names)-1 {
			with = how
		}
		beyond, more := l.numbering(i).compared(l.dialect.Quote(name), with, key[i])
		ways, args = append(ways, strings.Join(append(conditions, beyond), " AND ")), append(args, more...)
	}
	return "((" + strings.Join(ways, ") OR (") + "))", args
}

// numbering is that of a column of the key; nil for one that is compared as it is read.
func (l *layout) numbering(i int) *numbering {
	if l.numbers == nil {
		return nil
	}
	return l.numbers[l.key[i]]
}

// lists reports whether the keys after one are told by a list of the values of an ENUM: then there are as many such
// statements as values.
func (l *layout) lists() bool {
	for i := range l.key {
		if n := l.numbering(i); n != nil && n.kind == "enum" {
			return true
		}
	}
	return false
}

// is is the condition that a column of the key has one value.
func (l *layout) is(i int) string {
	return l.dialect.Quote(l.columns[l.key[i]]) + " = " + l.numbering(i).mark()
}

// bound are the arguments for a key, in the place of the marks for it.
func (l *layout) bound(key []any) []any {
	args := make([]any, len(key))
	for i, v := range key {
		args[i] = l.numbering(i).bound(v)
	}
	return args
}

// boundOf are the arguments for the keys of rows.
func (l *layout) boundOf(rows [][]any) (args []any) {
	for _, row := range rows {
		args = append(args, l.bound(l.keyOf(row))...)
	}
	return args
}

// lock is the statement that reads rows which nothing else may change until the
// transaction ends. It looks keys up even where to read the whole table takes less, as
// in one that is nearly empty: it would lock, and wait for, the rows of other workers.
// In SQLite a transaction that writes is alone.
func (l *layout) lock(where, end string) string {
	query := l.selectFrom()
	if l.dialect.mysql() {
		if l.index != "" {
			query += " FORCE INDEX (" + l.dialect.Quote(l.index) + ")"
		}
		end += " FOR UPDATE"
	}
	return query + " WHERE " + where + end
}

// insert is the statement that inserts n rows.
func (l *layout) insert(n int) string {
	row := "(" + sqldb.Marks(len(l.columns)) + ")"
	return "INSERT INTO " + l.dialect.Quote(l.table) + " (" + l.dialect.QuoteAll(l.columns) + ") VALUES " +
		strings.Repeat(row+", ", n-1) + row
}

// equal is the condition for n keys, with the arguments of [layout.bound] for each.
func (l *layout) equal(n int) string {
	if len(l.key) == 1 {
		marks := strings.Repeat(l.numbering(0).mark()+", ", n-1) + l.numbering(0).mark()
		return l.dialect.Quote(l.columns[l.key[0]]) + " IN (" + marks + ")"
	}
	conditions := make([]string, len(l.key))
	for i := range conditions {
		conditions[i] = l.is(i)
	}
	one := "(" + strings.Join(conditions, " AND ") + ")"
	return strings.Repeat(one+" OR ", n-1) + one
}

// selectEqual is the statement that reads the rows with n keys.
func (l *layout) selectEqual(n int) string { return l.selectFrom() + " WHERE " + l.equal(n) }

// perStatement is the most rows in one statement: more are no faster.
const perStatement = 500

// most is the most rows of n values each in one statement.
func (d dialect) most(n int) int {
	return max(1, min(perStatement, d.MaxArgs()/n))
}
