package sqlsource

import (
	"context"
	"database/sql"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

const sqliteStatements = `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL`

// readChecks finds the CHECK constraints in the statements that made the tables.
// CHECK is a word that SQLite takes for nothing else, unless it is quoted.
func (d sqliteDialect) readChecks(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, statement string
	return each(ctx, conn, sqliteStatements, func() {
		if t := b.tables[table]; t != nil {
			t.checks(sqldb.SQLite, tokens(statement), func([]token) bool { return false })
		}
	}, &table, &statement)
}

// checks adds the CHECK constraints of a statement that makes the table. off tells
// by what comes after one that it is not enforced.
func (t *building) checks(d sqldb.Dialect, statement []token, off func(after []token) bool) {
	inside, outer := definitions(statement)
	for n, i := range outer {
		if !inside[i].is("CHECK") || i+1 >= len(inside) || inside[i+1].text != "(" {
			continue
		}
		c := merge.Condition{Kind: merge.ConditionCheck}
		if n >= 2 && inside[outer[n-2]].is("CONSTRAINT") {
			c.Name = inside[outer[n-1]].name()
		}
		end := closing(inside[i+1:])
		if end < 0 {
			continue // SQLite and MySQL close what they open
		}
		c.Off = off(inside[i+1+end+1:])
		t.condition(d, c, inside[i+2:i+1+end])
	}
}
