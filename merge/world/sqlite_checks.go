package world

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

const sqliteStrict = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict`

const sqliteStatements = `SELECT type, tbl_name, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL`

// readChecks finds in the statements that made the tables and their indexes the CHECK
// constraints, what indexes compute, and which tables count with AUTOINCREMENT. These are
// words that SQLite takes for nothing else, unless they are quoted.
func (d sqliteDialect) readChecks(ctx context.Context, conn *sql.Conn, b *builder) error {
	var kind, table, name, statement string
	err := each(ctx, conn, sqliteStrict, func() {
		if t := b.tables[table]; t != nil {
			t.strict()
		}
	}, &table)
	if err != nil {
		return err
	}
	return each(ctx, conn, sqliteStatements, func() {
		t := b.tables[table]
		if t == nil {
			return
		}
		all := sqltext.SQLite(statement)
		if kind == "index" { // ON name ( ... ) WHERE ...
			on := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("ON") })
			t.computes(sqldb.SQLite, name, all[on+2:])
			return
		}
		t.checks(sqldb.SQLite, all, func([]sqltext.Token) bool { return false })
		if t.AutoIncrement != nil {
			t.AutoIncrement.Endless = !slices.ContainsFunc(all, func(t sqltext.Token) bool { return t.Keyword("AUTOINCREMENT") })
		}
	}, &kind, &table, &name, &statement)
}

// strict adds what the columns of a STRICT table take. A column of the same type in
// another table may hold values of other kinds.
func (t *building) strict() {
	for _, c := range t.columns {
		if takes := strictly(&c.Column); takes != "" && c.Generated == "" {
			t.Conditions = append(t.Conditions, catalog.Condition{
				Kind: catalog.ConditionValue, Name: c.Type + " of a STRICT table", Columns: []string{c.Name}, Within: true, Text: takes,
			})
		}
	}
}

// strictly is the condition for the values that a column of a STRICT table takes; "" if it takes any.
func strictly(c *catalog.Column) string {
	kind := map[string]string{"INT": "integer", "INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}[strings.ToUpper(c.Type)]
	if kind == "" {
		return ""
	}
	return "typeof(" + sqldb.SQLite.Quote(c.Name) + ") IN ('" + kind + "', 'null')"
}

// checks adds the CHECK constraints of a statement that makes the table. off tells
// by what comes after one that it is not enforced.
func (t *building) checks(d sqldb.Dialect, statement []sqltext.Token, off func(after []sqltext.Token) bool) {
	inside, outer := sqltext.Definitions(statement)
	for n, i := range outer {
		if !inside[i].Keyword("CHECK") || i+1 >= len(inside) || inside[i+1].Text != "(" {
			continue
		}
		c := catalog.Condition{Kind: catalog.ConditionCheck}
		if n >= 2 && inside[outer[n-2]].Keyword("CONSTRAINT") {
			c.Name = inside[outer[n-1]].Name()
		}
		end := sqltext.Closing(inside[i+1:])
		if end < 0 {
			continue // SQLite and MySQL close what they open
		}
		c.Off = off(inside[i+1+end+1:])
		t.condition(d, c, inside[i+2:i+1+end])
	}
}
