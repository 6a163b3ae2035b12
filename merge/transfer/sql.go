package transfer

import (
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
	text    []bool   // key columns that hold text
	big     []bool   // columns whose integers may lie beyond int64; nil: none
	key     []int    // none for a multiset

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
		l.reads = append(l.reads, d.read(c))
		if l.types = append(l.types, ""); d.mysql() {
			l.types[len(l.types)-1] = c.Type
		}
		l.text = append(l.text, c.Collation != "" && slices.Contains(t.Key(), c.Name))
		l.big = append(l.big, d.mysql() && strings.HasPrefix(strings.ToLower(c.Type), "bigint"))
	}
	if len(t.Primary) > 0 {
		l.index = "PRIMARY"
	} else if i := slices.IndexFunc(t.Uniques, func(u merge.Unique) bool { return slices.Equal(u.Columns, t.Key()) }); i >= 0 {
		l.index = t.Uniques[i].Name
	}
	for _, name := range t.Key() {
		l.key = append(l.key, slices.Index(l.columns, name))
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

// page is the statement that reads rows in the order of the key: the first rows,
// or those after a key, of those that meet a condition. Its last argument is their number.
func (l *layout) page(first bool, condition string) string {
	names := l.keyColumns()
	after := ""
	if !first {
		after = "(" + l.after(names) + ")"
	}
	return l.selectFrom() + where(after, condition) + " ORDER BY " + l.dialect.QuoteAll(names) + " LIMIT ?"
}

// after is the condition for the keys after one, and afterArgs its arguments.
func (l *layout) after(names []string) string { return l.compared(names, ">") }

// within is the condition for the keys from one to before another, and withinArgs its
// arguments. MariaDB locks the first row beyond such rows too: with the last of them
// left to [layout.equal], that is one of ours, and workers do not meet there.
func (l *layout) within() string {
	names := l.keyColumns()
	return "(" + l.compared(names, ">=") + ") AND (" + l.compared(names, "<") + ")"
}

func (l *layout) withinArgs(low, high []any) []any {
	return append(slices.Clone(l.afterArgs(low)), l.afterArgs(high)...)
}

// compared is the condition for the keys that compare with one in that way.
// SQLite looks a row of values up in the index, MariaDB only single values.
func (l *layout) compared(names []string, with string) string {
	d := l.dialect
	if !d.mysql() {
		return "(" + d.QuoteAll(names) + ") " + with + " (" + sqldb.Marks(len(names)) + ")"
	}
	var ways []string
	for i := range names {
		var conditions []string
		for _, before := range names[:i] {
			conditions = append(conditions, d.Quote(before)+" = ?")
		}
		how := with[:1] // only the last column may be equal
		if i == len(names)-1 {
			how = with
		}
		ways = append(ways, strings.Join(append(conditions, d.Quote(names[i])+" "+how+" ?"), " AND "))
	}
	return "(" + strings.Join(ways, ") OR (") + ")"
}

func (l *layout) afterArgs(key []any) []any {
	if !l.dialect.mysql() {
		return key
	}
	var args []any
	for i := range key {
		args = append(args, key[:i+1]...)
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

// equal is the condition for n keys.
func (l *layout) equal(n int) string {
	names := l.keyColumns()
	if len(names) == 1 {
		return l.dialect.Quote(names[0]) + " IN (" + sqldb.Marks(n) + ")"
	}
	conditions := make([]string, len(names))
	for i, name := range names {
		conditions[i] = l.dialect.Quote(name) + " = ?"
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
