package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
	"mergesafe/merge/catalog"
)

// mysqlReadStatements reads what the catalogue shows only to who may do more than
// SELECT, or shows with its letters spoilt (MySQL's CHECK_CLAUSE and GENERATION_EXPRESSION), or not at all: the
// CHECK constraints, generated columns, what foreign keys do, keys that keep periods from overlapping, and partitions of
// the rest. The statement that makes the table has all of them.
func mysqlReadStatements(ctx context.Context, conn *sql.Conn, b *builder) (err error) {
	// In utf8mb4, MySQL spoils the letters of a text in another character set: _latin1'?'.
	if _, err := conn.ExecContext(ctx, "SET SESSION character_set_results = NULL"); err != nil {
		return err
	}
	defer func() {
		if _, failed := conn.ExecContext(ctx, "SET SESSION character_set_results = utf8mb4"); err == nil {
			err = failed
		}
	}()
	for _, t := range b.tables {
		var name, statement string
		if err := conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+sqldb.MySQL.Quote(t.name)).Scan(&name, &statement); err != nil {
			return err
		}
		statement = sqltext.Flat(readable(statement)) // as a merge makes it
		all := sqltext.MySQL(statement)
		t.partitionOfRest = hasPartitionOfRest(all)
		t.checks(sqldb.MySQL, all, func(after []sqltext.Token) bool {
			return len(after) > 1 && after[0].Keyword("NOT") && after[1].Keyword("ENFORCED")
		})
		open := slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Text == "(" })
		for _, definition := range sqltext.Parts(sqltext.InParentheses(statement, all[max(open, 0):])) {
			words := sqltext.MySQL(definition)
			if len(words) > 2 && words[0].Keyword("CONSTRAINT") && words[2].Keyword("FOREIGN") {
				t.actions(words[1].Name(), words[2:])
			}
			if len(words) > 2 && words[len(words)-2].Keyword("OVERLAPS") {
				t.keepsPeriods(definition)
			}
			if words[0].Keyword("KEY") || words[0].Keyword("UNIQUE") { // KEY `name` ( ... )
				parts := slices.IndexFunc(words, func(t sqltext.Token) bool { return t.Text == "(" })
				t.computes(sqldb.MySQL, words[parts-1].Name(), words[parts:])
			}
			if c := t.byName[words[0].Name()]; c != nil && c.Generated != "" && words[0].Text[0] == '`' {
				c.generated(definition, words)
			}
		}
	}
	return nil
}

// readable writes a text that is not in UTF-8, as one in another character set behind its name, in hexadecimal digits.
func readable(statement string) string {
	if utf8.ValidString(statement) {
		return statement
	}
	var b strings.Builder
	rest := 0
	for _, t := range sqltext.MySQL(statement) {
		if t.Text[0] == '\'' && !utf8.ValidString(t.Text) {
			fmt.Fprintf(&b, "%s x'%x'", statement[rest:t.Start], unquoteText.Replace(t.Text[1:len(t.Text)-1]))
			rest = t.End()
		}
	}
	return b.String() + statement[rest:]
}

var unquoteText = strings.NewReplacer("''", "'", `\'`, "'", `\\`, `\`, `\0`, "\x00", `\n`, "\n", `\r`, "\r")

// generated takes the expression of a generated column from its definition: name type GENERATED ALWAYS AS (expression)
// VIRTUAL.
func (c *column) generated(definition string, words []sqltext.Token) {
	at := 2 + slices.IndexFunc(words, func(t sqltext.Token) bool { return t.Keyword("ALWAYS") })
	c.Generated = sqltext.InParentheses(definition, words[at:])
	if end := at + sqltext.Closing(words[at:]); end+1 < len(words) {
		c.Virtual = words[end+1].Keyword("VIRTUAL")
	}
}

// keepsPeriods notes a key that keeps periods from overlapping: UNIQUE KEY `name` (`a`, `period` WITHOUT OVERLAPS). The
// catalogue shows it as a unique index that ends in the two ends of the period.
func (t *building) keepsPeriods(sql string) {
	const unclear = "it prevents overlapping periods, which only the new database can test (apply -try)"
	kind, name := definition(sql)
	if kind == PrimaryKey {
		t.Uniques = append(t.Uniques, catalog.Unique{Name: "PRIMARY", Columns: t.Primary, Unclear: unclear})
	}
	for i := range t.Uniques {
		if kind == Index && t.Uniques[i].Name == name {
			t.Uniques[i].Unclear = unclear
		}
	}
}

// actions notes what a foreign key does, by its definition.
func (t *building) actions(name string, definition []sqltext.Token) {
	for i := range t.References {
		r := &t.References[i]
		if r.Name != name {
			continue
		}
		r.OnDelete, r.OnUpdate = "", ""
		for j, token := range definition {
			if !token.Keyword("ON") || j+2 >= len(definition) {
				continue
			}
			action := referenceAction(definition[j+2:])
			switch {
			case definition[j+1].Keyword("DELETE"):
				r.OnDelete = action
			case definition[j+1].Keyword("UPDATE"):
				r.OnUpdate = action
			}
		}
	}
}

// referenceAction is an action of a foreign key. NO ACTION, RESTRICT and no word of
// it are the same to InnoDB.
func referenceAction(words []sqltext.Token) string {
	action := strings.ToUpper(words[0].Text)
	if len(words) > 1 && (words[0].Keyword("SET") || words[0].Keyword("NO")) {
		action += " " + strings.ToUpper(words[1].Text)
	}
	return actionOf(action)
}

// actionOf gives the actions that keep the other row one name.
func actionOf(action string) string {
	switch action {
	case "NO ACTION", "RESTRICT":
		return ""
	}
	return action
}

const (
	mysqlDatabase = `SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE()`

	// Both are shown to who may run or change them only; the bodies not to all of these.
	mysqlRoutines = `SELECT ROUTINE_TYPE, ROUTINE_NAME, COALESCE(CONCAT(ROUTINE_DEFINITION), '') FROM information_schema.ROUTINES
		WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY ROUTINE_TYPE, ROUTINE_NAME`
	mysqlEvents = `SELECT 'EVENT', EVENT_NAME, CONCAT_WS(' ', EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE, INTERVAL_FIELD, ENDS, STATUS, EVENT_DEFINITION)
		FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY EVENT_NAME`
)

// mysqlReadDatabase reads what belongs to the database and to no table.
func mysqlReadDatabase(ctx context.Context, conn *sql.Conn, b *builder) error {
	err := conn.QueryRowContext(ctx, mysqlDatabase).Scan(&b.Collation)
	if errors.Is(err, sql.ErrNoRows) { // MariaDB lists a database that was dropped as an empty one; MySQL says so at once
		return errors.New("there is no such database any more: it was dropped after the command began")
	}
	if err != nil {
		return err
	}
	var r catalog.Routine
	for _, query := range []string{mysqlRoutines, mysqlEvents} {
		if err := each(ctx, conn, query, func() { b.Routines = append(b.Routines, r) }, &r.Kind, &r.Name, &r.Body); err != nil {
			return err
		}
	}
	return nil
}
