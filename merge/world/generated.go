package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// Generated has a server compute the generated columns of a table of MySQL or MariaDB as it does when it is strict and
// stores them, by SELECT alone. In a recursive query the first SELECT gives the columns their types; what the next one
// gives is converted like a value that is stored, so what does not fit, or cannot be computed, is an error.
type Generated struct {
	l          *Layout
	reads      []int                // the columns of the layout that the expressions read
	columns    []*catalog.Column    // in the order of the table: each may read those before it
	begin      []bool               // which columns begin a step: the first one, and each that reads a column of the step before it
	conditions []*catalog.Condition // of a [Trial]
}

// NewGenerated returns nil if the table has no generated columns, or is of SQLite, which keeps any value in any column.
func NewGenerated(l *Layout, t *catalog.Table) *Generated {
	g := newGenerated(l, t)
	if g.columns == nil || !l.Dialect.MySQL() {
		return nil
	}
	return g
}

func newGenerated(l *Layout, t *catalog.Table) *Generated {
	g := &Generated{l: l}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated != "" {
			g.columns, g.begin = append(g.columns, c), append(g.begin, false)
		}
	}
	for i, since := 0, 0; i < len(g.columns); i++ {
		g.begin[i] = i == 0 || slices.ContainsFunc(g.columns[since:i], func(c *catalog.Column) bool { return t.MadeFrom(g.columns[i].Name, c.Name) })
		if g.begin[i] {
			since = i
		}
	}
	for i, name := range l.Columns {
		if slices.ContainsFunc(g.columns, func(c *catalog.Column) bool { return t.MadeFrom(c.Name, name) }) {
			g.reads = append(g.reads, i)
		}
	}
	return g
}

// Stored is g without the last columns if nothing of them is stored: a virtual one is computed when it is read, and by
// MySQL also when a row is written.
func (g *Generated) Stored(engine string) *Generated {
	if g == nil || engine == "mysql" {
		return g
	}
	columns := g.columns
	for len(columns) > 0 && columns[len(columns)-1].Virtual {
		columns = columns[:len(columns)-1]
	}
	if len(columns) == 0 {
		return nil
	}
	return &Generated{l: g.l, reads: g.reads, columns: columns, begin: g.begin}
}

// Bent is a row that a strict server does not store as it is.
type Bent struct {
	At        int             // its place among the rows that were given
	Row       string          // as text, of a row of a table; "a row" if that has no key
	column    *catalog.Column // that is generated; nil: a condition refuses the row, or SQLite
	condition *catalog.Condition
	table     string
	why       error // what the server says; nil if it computes another value
	sqlite    bool
}

func (b *Bent) String() string {
	switch {
	case b.column == nil && b.condition == nil:
		return fmt.Sprintf("%s: the new database refuses it: %v", b.Row, b.why)
	case b.column == nil && b.why == nil:
		return fmt.Sprintf("%s: it breaks %s", b.Row, b.condition)
	case b.column == nil:
		return fmt.Sprintf("%s: it cannot be tested against %s: %v", b.Row, b.condition, b.why)
	}
	text := fmt.Sprintf("%s: its generated column %q ", b.Row, b.column.Name)
	switch {
	case b.why == nil && b.sqlite:
		return text + "has a value that differs from what the SQLite of the merge computes"
	case b.why == nil:
		return text + "has a value that differs from what a strict server computes in UTC"
	case b.sqlite:
		return text + "cannot be computed: " + b.why.Error()
	}
	return text + "cannot be computed by a strict server: " + b.why.Error()
}

// Remedy says what to do about a row that the merge changes.
func (b *Bent) Remedy() string {
	if b.column == nil {
		return "correct the row, let the rules give it other values, or drop the constraint from the first world until the merge is done"
	}
	if alter := b.alter(); alter != "" {
		return "correct the row, or change the column in all worlds: " + alter
	}
	return "correct the row, or drop the column from all worlds until the merge is done"
}

// alter is the statement that makes the column anew with a type that takes more; "" if that does not help.
func (b *Bent) alter() string {
	if b.sqlite || b.why == nil || !strings.Contains(b.why.Error(), "Out of range value for column") && !strings.Contains(b.why.Error(), "Data too long") {
		return "" // it is not the type that is too narrow
	}
	c, q := b.column, sqldb.MySQL.Quote
	typ, unsigned := strings.ToLower(c.Type), ""
	if strings.Contains(typ, "unsigned") {
		unsigned = " unsigned"
	}
	length := 0
	if _, size, has := strings.Cut(typ, "("); has {
		length, _ = strconv.Atoi(strings.TrimSuffix(size, ")"))
	}
	switch {
	case ofKind(typ, []string{"tinyint", "smallint", "mediumint", "int"}):
		typ = "bigint" + unsigned
	case ofKind(typ, []string{"char", "varchar"}) && length < 255:
		typ = "varchar(255)"
	case ofKind(typ, []string{"binary", "varbinary"}) && length < 255:
		typ = "varbinary(255)"
	default:
		return ""
	}
	if c.Collation != "" {
		typ += " COLLATE " + c.Collation
	}
	way := "STORED"
	if c.Virtual {
		way = "VIRTUAL"
	}
	if !c.Nullable {
		way += " NOT NULL"
	}
	return fmt.Sprintf("ALTER TABLE %s MODIFY %s %s GENERATED ALWAYS AS (%s) %s;", q(b.table), q(c.Name), typ, c.Generated, way)
}

// A query has steps, which are tables with a row 0 that gives the columns their types, and further rows.

// step is one of them: its columns have the types of columns of the table, and get values from a source.
func (g *Generated) step(n int, types, values []string, from string) string {
	names, typed, read := []string{"mergesafe_n"}, []string{"0"}, []string{"1"}
	for i, name := range types {
		name = g.l.Dialect.Quote(name)
		names, typed = append(names, columnOfStep(i)), append(typed, "t."+name)
		if !slices.Contains(read, name) {
			read = append(read, name)
		}
	}
	// No row of the table is read: of a LEFT JOIN ON FALSE, MariaDB would read all.
	return fmt.Sprintf("mergesafe_%d (%s) AS (SELECT %s FROM (SELECT 1) AS one LEFT JOIN (SELECT %s FROM %s LIMIT 0) AS t ON TRUE UNION ALL "+
		"SELECT %s FROM mergesafe_%[1]d JOIN %[7]s AND mergesafe_%[1]d.mergesafe_n = 0)", n, strings.Join(names, ", "), strings.Join(typed, ", "),
		strings.Join(read, ", "), g.l.Dialect.Quote(g.l.Table), strings.Join(append([]string{"1"}, values...), ", "), from)
}

func columnOfStep(i int) string { return "mergesafe_c" + strconv.Itoa(i) }

// wrong is a query that returns how many of the rows of a step meet one of some conditions. It computes them all: for
// a condition that no row can meet, nothing would be.
func wrong(steps []string, conditions []string) string {
	return fmt.Sprintf("WITH RECURSIVE %s SELECT COALESCE(SUM(%s), 0) FROM mergesafe_%d WHERE mergesafe_n = 1",
		strings.Join(steps, ", "), strings.Join(append(conditions, "FALSE"), " OR "), len(steps)-1)
}

// ofRows is the query for rows that are given as (SELECT mergesafe_n, columns), of which the first of the generated
// columns and then of the conditions, so many, are computed: how many have no value where one must be, or fail.
func (g *Generated) ofRows(rows string, parts int) string {
	q, columns := g.l.Dialect.Quote, min(parts, len(g.columns))
	has := slice.Map(g.reads, func(i int) string { return g.l.Columns[i] })
	values := func() []string { return slice.Map(has, func(name string) string { return "p." + q(name) }) }
	steps := []string{g.step(0, has, values(), rows+" AS p ON TRUE")}
	before := func() string {
		names := []string{"mergesafe_n"}
		for i, name := range has {
			names = append(names, columnOfStep(i)+" AS "+q(name))
		}
		return fmt.Sprintf("(SELECT %s FROM mergesafe_%d WHERE mergesafe_n = 1) AS p ON TRUE", strings.Join(names, ", "), len(steps)-1)
	}
	var fails, computed []string
	from := ""
	for i, c := range g.columns[:columns] {
		if !c.Nullable {
			fails = append(fails, "p."+q(c.Name)+" IS NULL")
		}
		if g.begin[i] { // columns that do not read each other are one step: MariaDB takes seconds for fifteen steps
			from, computed = before(), values()
		}
		has, computed = append(has, c.Name), append(computed, "("+c.Generated+")")
		if i+1 == columns || g.begin[i+1] {
			steps = append(steps, g.step(len(steps), has, computed, from))
		}
	}
	for _, c := range g.conditions[:parts-columns] {
		fails = append(fails, "NOT ("+c.Text+")")
	}
	// They are computed in a step too: a value that cannot be converted is an error there, as where rows are stored.
	failed := "COALESCE(" + strings.Join(append(fails, "FALSE"), " OR ") + ", 0)"
	steps = append(steps, fmt.Sprintf("mergesafe_%[1]d (mergesafe_n, mergesafe_failed) AS (SELECT 0, 0 UNION ALL SELECT 1, %[2]s FROM mergesafe_%[1]d JOIN %[3]s AND mergesafe_%[1]d.mergesafe_n = 0)",
		len(steps), failed, before()))
	return wrong(steps, []string{"mergesafe_failed"})
}

// ofTable is the query for the rows of the table that meet a condition: how many have another value in one of the first
// columns, so many.
func (g *Generated) ofTable(condition string, columns int) string {
	var types, values, conditions []string
	for _, c := range g.columns[:columns] {
		stored, computed := columnOfStep(len(types)), columnOfStep(len(types)+1)
		if c.Collation != "" {
			stored, computed = "CAST("+stored+" AS BINARY)", "CAST("+computed+" AS BINARY)"
		}
		types, values = append(types, c.Name, c.Name), append(values, g.l.Dialect.Quote(c.Name), "("+c.Generated+")")
		conditions = append(conditions, "NOT ("+stored+" <=> "+computed+")")
	}
	from := g.l.Dialect.Quote(g.l.Table) + " ON TRUE"
	if condition != "" {
		from = g.l.Dialect.Quote(g.l.Table) + " ON (" + condition + ")"
	}
	return wrong([]string{g.step(0, types, values, from)}, conditions)
}

// search finds the first of n rows that is bent, by halves. query is about some of them, and the first of the generated
// columns and conditions, so many.
func (g *Generated) search(ctx context.Context, on *Connection, first, n int, query func(first, n, columns int) (query string, args []any)) (*Bent, error) {
	ask := func(columns int) (wrong bool, why, err error) {
		text, args := query(first, n, columns)
		rows, err := on.Number(ctx, text, false, args...)
		if sqldb.Says(err, sqldb.Refused) {
			return true, err, nil
		}
		return rows > 0, nil, err
	}
	parts := len(g.columns) + len(g.conditions)
	wrong, why, err := ask(parts)
	if !wrong || err != nil {
		return nil, err
	}
	if n > 1 {
		for _, half := range [][2]int{{first, n / 2}, {first + n/2, n - n/2}} {
			if bent, err := g.search(ctx, on, half[0], half[1], query); bent != nil || err != nil {
				return bent, err
			}
		}
	} // none alone may be refused: a server need not compute what is the same in all rows
	for k := 1; ; k++ {
		if wrong, why, err = ask(k); err != nil {
			return nil, err
		}
		if wrong || k == parts {
			bent := &Bent{At: first, Row: "a row", table: g.l.Table, why: why}
			if k <= len(g.columns) {
				bent.column = g.columns[k-1]
			} else {
				bent.condition = g.conditions[k-1-len(g.columns)]
			}
			return bent, nil
		}
	}
}

// among finds one among rows that are to be written that a strict server does not store; nil if there is none. on is a
// connection to a database with the table.
func (g *Generated) among(ctx context.Context, on *Connection, rows [][]any) (*Bent, error) {
	if err := on.Connect(ctx); err != nil {
		return nil, err
	}
	for first := 0; first < len(rows); {
		n, size := 0, 0
		for n < perStatement && first+n < len(rows) && (n == 0 || size < on.Packet) {
			for _, i := range g.reads {
				size += 2*len(Printed(rows[first+n][i])) + 80 // escaped, with the name
			}
			n++
		}
		if bent, err := g.someOf(ctx, on, rows[first:first+n]); bent != nil || err != nil {
			if bent != nil {
				bent.At += first
			}
			return bent, err
		}
		first += n
	}
	return nil, nil
}

func (g *Generated) someOf(ctx context.Context, on *Connection, rows [][]any) (*Bent, error) {
	binary := g.l.columnsOf(bytesKinds...)
	rows, _ = g.l.asNumbers(rows)
	bent, err := g.search(ctx, on, 0, len(rows), func(first, n, columns int) (string, []any) {
		var b []byte
		for k, row := range rows[first : first+n] {
			if k > 0 {
				b = append(b, " UNION ALL "...)
			}
			b = append(b, "SELECT 1 AS mergesafe_n"...)
			for _, i := range g.reads {
				b = append(appendLiteral(append(b, ", "...), row[i], binary[i]), " AS "+g.l.Dialect.Quote(g.l.Columns[i])...)
			}
		}
		return g.ofRows("("+string(b)+")", columns), nil
	})
	if bent != nil && bent.why != nil {
		names := slice.Map(g.reads, func(i int) string { return g.l.Columns[i] })
		for _, c := range g.columns {
			names = append(names, c.Name)
		}
		bent.named(names)
	}
	return bent, err
}

// named gives the columns of a step that the server's words are about their names.
func (b *Bent) named(names []string) {
	text := b.why.Error()
	for i, name := range slices.Backward(names) {
		text = strings.ReplaceAll(text, columnOfStep(i), name)
	}
	b.why = errors.New(text)
}

// BentInTable finds a row of the table whose generated columns are not as a strict server computes them from it; nil if
// there is none.
func (g *Generated) BentInTable(ctx context.Context, on *Connection) (*Bent, error) {
	var same []string
	for _, c := range g.columns {
		stored, computed := g.l.Dialect.Quote(c.Name), "("+c.Generated+")"
		if ofKind(c.Type, numberKinds) { // MySQL compares a text with a number without a warning, if a function gives it
			stored, computed = "CAST("+stored+" AS BINARY)", "CAST("+computed+" AS BINARY)"
		}
		same = append(same, stored+" <=> "+computed)
	}
	both := func(conditions ...string) string {
		return strings.TrimPrefix(Where(append(conditions, on.Comes(g.l.Table))...), " WHERE ")
	}
	// What an expression gives without a warning is what is stored, or it is converted on the way.
	converted := "NOT (" + strings.Join(same, " AND ") + ")"
	n, err := on.Number(ctx, "SELECT COUNT(*) FROM "+g.l.Dialect.Quote(g.l.Table)+Where(both(converted)), false)
	if err == nil {
		err = on.warned(ctx)
	}
	switch {
	case err == nil && n == 0, err != nil && !sqldb.Says(err, sqldb.Refused):
		return nil, err
	case err != nil:
		converted = ""
	}
	bent, err := g.search(ctx, on, 0, 1, func(_, _, columns int) (string, []any) { return g.ofTable(both(converted), columns), nil })
	if bent == nil || err != nil || g.l.Multiset() {
		return g.inTable(bent), err
	}
	keys, after := g.l.KeysOnly(), []any(nil)
	for {
		page, err := ReadPage(ctx, on, keys, after, perStatement, nil)
		if err != nil || len(page.Rows) == 0 {
			return g.inTable(bent), err
		}
		one, err := g.search(ctx, on, 0, len(page.Rows), func(first, n, columns int) (string, []any) {
			return g.ofTable(both("("+keys.Equal(n)+")"), columns), keys.BoundOf(page.Rows[first : first+n])
		})
		if one != nil {
			one.Row = "row " + keys.KeyText(page.Rows[one.At])
			return g.inTable(one), err
		}
		if err != nil || page.Last {
			return g.inTable(bent), err
		}
		after = page.after
	}
}

// StoredOtherwise finds a row of a table of SQLite with a stored value that its generated column would not have if it were computed
// now: by another version of SQLite, which writes a number as another text, or since the column was declared otherwise. It is nil
// if there is none. Of the two values, compared like bytes, the one that is computed is converted as where it is stored.
func StoredOtherwise(ctx context.Context, on *Connection, l *Layout, t *catalog.Table) (*Bent, error) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated == "" || c.Virtual {
			continue
		}
		bent := &Bent{Row: "a row", table: l.Table, column: c, sqlite: true}
		keys, found, args := l.KeysOnly(), []any(nil), []any(nil)
		if l.Multiset() {
			keys.Reads = []string{"1"}
		}
		otherwise := fmt.Sprintf("%[1]s COLLATE BINARY IS NOT +(%[2]s) AND NOT (typeof(%[1]s) = 'real' AND %[1]s = CAST((%[2]s) AS REAL))", // an integer that became the next real
			l.Dialect.Quote(c.Name), c.Generated)
		if c.Type == "" || strings.EqualFold(c.Type, "BLOB") { // which keeps 1 and 1.0 as they are
			otherwise += fmt.Sprintf(" OR typeof(%s) <> typeof(+(%s))", l.Dialect.Quote(c.Name), c.Generated)
		}
		if takes := strictly(c); takes != "" {
			otherwise, args = otherwise+" OR NOT "+takes+" AND ? IN ("+sqliteStrict+")", []any{t.Name}
		}
		query := "SELECT " + strings.Join(keys.Reads, ", ") + " FROM " + l.Dialect.Quote(l.Table) + Where(on.Comes(l.Table), "("+otherwise+")") + " LIMIT 1"
		err := on.Rows(ctx, query, false, args, func(row []any) (bool, error) {
			found = slices.Clone(row)
			return false, nil
		})
		if sqldb.Says(err, sqldb.NeverEvaluates) {
			bent.why = err
			found, err = notComputed(ctx, on, keys, c)
		}
		if err != nil {
			return nil, err
		}
		if found != nil && !l.Multiset() {
			keys.Tidy(found)
			bent.Row = "row " + keys.KeyText(found)
		}
		if found != nil || bent.why != nil {
			return bent, nil
		}
	}
	return nil, nil
}

// IndexedOtherwise names an index of a table of SQLite that covers an expression, or some rows, and has other values than were
// computed now: another version or build filled it, which writes a REAL as another text. To that one, the index of the new database
// would be damaged. It is "" if there is none.
func IndexedOtherwise(ctx context.Context, on *Connection, table string) (index string, err error) {
	const computed = `SELECT COUNT(*) FROM pragma_index_list(?1) AS l JOIN pragma_index_xinfo(l.name) AS i
		LEFT JOIN pragma_table_xinfo(?1) AS c ON c.cid = i.cid WHERE i.cid = -2 OR c.hidden = 2 OR l.partial`
	n, err := on.Number(ctx, computed, false, table)
	if err != nil || n == 0 {
		return "", err
	}
	lines, err := on.Texts(ctx, "PRAGMA integrity_check("+on.Dialect().Quote(table)+")")
	for _, line := range lines { // row 1 missing from index k
		if _, name, is := strings.Cut(line, " index "); is {
			return name, err
		}
	}
	if sqldb.Says(err, sqldb.NeverEvaluates) {
		err = nil // it cannot be made in the new database either
	}
	return "", err
}

// notComputed returns the key of the first row of a table of SQLite of which a column cannot be computed: the one that comes after
// those that can be read.
func notComputed(ctx context.Context, on *Connection, keys *Layout, c *catalog.Column) (key []any, err error) {
	from, read := " FROM "+keys.Dialect.Quote(keys.Table)+" NOT INDEXED"+Where(on.Comes(keys.Table)), 0
	err = on.Rows(ctx, "SELECT +("+c.Generated+"), "+keys.Dialect.Quote(c.Name)+from, false, nil, func([]any) (bool, error) {
		read++
		return true, nil
	})
	if !sqldb.Says(err, sqldb.NeverEvaluates) {
		return nil, err
	}
	err = on.Rows(ctx, fmt.Sprintf("SELECT %s%s LIMIT 1 OFFSET %d", strings.Join(keys.Reads, ", "), from, read), false, nil, func(row []any) (bool, error) {
		key = slices.Clone(row)
		return true, nil
	})
	return key, err
}

func (g *Generated) inTable(b *Bent) *Bent {
	if b != nil && b.why != nil {
		var names []string
		for _, c := range g.columns {
			names = append(names, c.Name, c.Name)
		}
		b.named(names)
	}
	return b
}
