package transfer

import (
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/store"
)

// dialect writes the statements that differ between kinds of databases.
type dialect store.Dialect

func (d dialect) mysql() bool { return store.Dialect(d) == store.MySQL }

func (d dialect) quote(name string) string {
	if d.mysql() {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (d dialect) quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = d.quote(name)
	}
	return strings.Join(quoted, ", ")
}

// begin opens a transaction that will write.
func (d dialect) begin() string {
	if d.mysql() {
		return "START TRANSACTION"
	}
	return "BEGIN IMMEDIATE"
}

// session makes a connection independent of how the server is set up. Values
// are copied as they are: zero dates and dates that do not exist are values
// like others, and 0 in a counted column is 0. What does not fit is an error.
//
// unchecked leaves out the check of foreign keys for every single row: see
// [run.checkReferences].
func (d dialect) session(writes, unchecked bool) []string {
	check := "1"
	if unchecked {
		check = "0"
	}
	switch {
	case !d.mysql() && writes:
		return []string{"PRAGMA foreign_keys = " + check}
	case !d.mysql():
		return nil
	}
	statements := []string{
		"SET SESSION sql_select_limit = 18446744073709551615, sql_big_selects = 1, wait_timeout = 86400, net_write_timeout = 86400, " +
			"sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'",
	}
	if writes {
		// A batch needs no more, and takes fewer locks.
		statements = append(statements,
			"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
			"SET SESSION unique_checks = 1, foreign_key_checks = "+check)
	}
	return statements
}

// unlimited are the limits of a session that only some servers know.
var unlimited = []string{
	"SET SESSION max_statement_time = 0", // MariaDB
	"SET SESSION idle_transaction_timeout = 0",
	"SET SESSION idle_readonly_transaction_timeout = 0",
	"SET SESSION idle_write_transaction_timeout = 0",
	"SET SESSION max_execution_time = 0", // MySQL
}

// read is the expression by which a column is read, so that the driver gives
// the value as it is rather than what it takes it for: a date stays the text
// that the database writes.
func (d dialect) read(c *merge.Column) string {
	name := d.quote(c.Name)
	if !d.mysql() {
		return "+" + name // has no declared type, by which the driver would go
	}
	declared := strings.ToLower(c.Type)
	for _, prefix := range []string{"date", "timestamp"} { // datetime too
		if strings.HasPrefix(declared, prefix) {
			return "CAST(" + name + " AS CHAR)"
		}
	}
	return name
}

// layout is how the rows of one table are read and written: the columns that
// can be written, in the order of the target, and where the primary key is
// among them.
type layout struct {
	dialect dialect
	table   string
	columns []string
	reads   []string // expressions
	text    []bool   // key columns that hold text
	key     []int
}

// newLayout returns the layout of a table that has a primary key of columns
// that can be written.
func newLayout(d dialect, t *merge.Table) *layout {
	l := &layout{dialect: d, table: t.Name}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated != "" {
			continue
		}
		l.columns = append(l.columns, c.Name)
		l.reads = append(l.reads, d.read(c))
		l.text = append(l.text, c.Collation != "" && slices.Contains(t.Primary, c.Name))
	}
	for _, name := range t.Primary {
		l.key = append(l.key, slices.Index(l.columns, name))
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

// keyOf returns the values of the primary key of a row.
func (l *layout) keyOf(row []any) []any {
	values := make([]any, len(l.key))
	for i, k := range l.key {
		values[i] = row[k]
	}
	return values
}

func (l *layout) selectFrom() string {
	return "SELECT " + strings.Join(l.reads, ", ") + " FROM " + l.dialect.quote(l.table)
}

// page is the statement that reads rows in the order of the key, from the
// first on or from after a key on. Its last argument is how many.
func (l *layout) page(first bool) string {
	names := l.keyColumns()
	where := ""
	if !first {
		where = " WHERE " + l.after(names)
	}
	return l.selectFrom() + where + " ORDER BY " + l.dialect.quoteAll(names) + " LIMIT ?"
}

// after is the condition for the keys after one, and afterArgs its arguments.
// SQLite finds the place of a row of values in the index, MariaDB that of
// single values.
func (l *layout) after(names []string) string {
	d := l.dialect
	if !d.mysql() {
		return "(" + d.quoteAll(names) + ") > (" + marks(len(names)) + ")"
	}
	var ways []string
	for i := range names {
		var conditions []string
		for _, before := range names[:i] {
			conditions = append(conditions, d.quote(before)+" = ?")
		}
		ways = append(ways, strings.Join(append(conditions, d.quote(names[i])+" > ?"), " AND "))
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

// insert is the statement that inserts n rows.
func (l *layout) insert(n int) string {
	row := "(" + marks(len(l.columns)) + ")"
	return "INSERT INTO " + l.dialect.quote(l.table) + " (" + l.dialect.quoteAll(l.columns) + ") VALUES " +
		strings.Repeat(row+", ", n-1) + row
}

// equal is the condition for n keys.
func (l *layout) equal(n int) string {
	names := l.keyColumns()
	if len(names) == 1 {
		return l.dialect.quote(names[0]) + " IN (" + marks(n) + ")"
	}
	conditions := make([]string, len(names))
	for i, name := range names {
		conditions[i] = l.dialect.quote(name) + " = ?"
	}
	one := "(" + strings.Join(conditions, " AND ") + ")"
	return strings.Repeat(one+" OR ", n-1) + one
}

// marks writes n question marks.
func marks(n int) string { return strings.Repeat(", ?", n)[2:] }

// perStatement is how many rows go into one statement: more are no faster.
const perStatement = 500

// most is how many rows of n values each go into one statement.
func (d dialect) most(n int) int {
	limit := 32766 // SQLite
	if d.mysql() {
		limit = 65535
	}
	return max(1, min(perStatement, limit/n))
}

// dangling counts the rows that refer to nothing by a reference. A join finds
// them more than ten times as fast as NOT EXISTS does in MariaDB.
func (d dialect) dangling(table string, r merge.Reference) string {
	on, set := make([]string, len(r.Columns)), make([]string, len(r.Columns))
	for i, name := range r.Columns {
		// What is referred to comes first: in SQLite it brings the collation.
		on[i] = "p." + d.quote(r.ToColumns[i]) + " = c." + d.quote(name)
		set[i] = "c." + d.quote(name) + " IS NOT NULL"
	}
	return "SELECT COUNT(*) FROM " + d.quote(table) + " AS c LEFT JOIN " + d.quote(r.ToTable) + " AS p ON " + strings.Join(on, " AND ") +
		" WHERE " + strings.Join(set, " AND ") + " AND p." + d.quote(r.ToColumns[0]) + " IS NULL"
}
