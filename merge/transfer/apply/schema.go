package apply

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/rowio"
)

// Made lists the things that [MakeSchema] made, and those to be made by hand.
type Made struct {
	Tables int      `json:"tables"`
	Left   []string `json:"left,omitempty"` // views, triggers and routines, by kind and name

	drops, sequences []string // statements that drop what was made
}

// MakeSchema makes the tables of one database, with their indexes and references and
// without rows, in another one that has none. For SQLite the file need not exist. A
// database that has tables is not changed, and the result counts none.
func MakeSchema(ctx context.Context, from, to rowio.Database) (*Made, error) {
	made, err := makeSchema(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("make the tables of %q in %q: %w", from.Name, to.Name, err)
	}
	return made, nil
}

func makeSchema(ctx context.Context, from, to rowio.Database) (*Made, error) {
	source, err := rowio.OpenSource(ctx, from)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target := &rowio.Connection{Database: to, Writes: true, Unchecked: true}
	defer target.Close()
	if target.Dialect() != source.Dialect {
		return nil, fmt.Errorf("the target must be %s, as %s is: tables are made as they are, and types are not translated",
			nameOf(source.Dialect.Dialect), from.Name)
	}
	have, err := target.Texts(ctx, tablesOf(target.Dialect()))
	if err != nil || len(have) > 0 {
		return &Made{}, err
	}
	made := &Made{Left: leftBehind(source.Known)}
	statements, err := schemaOf(ctx, source, made, sqldb.Ours)
	if err != nil {
		return nil, err
	}
	for _, s := range statements {
		if _, err := target.Exec(ctx, "create", s, false); err != nil {
			return nil, fmt.Errorf("%.200s: %w", s, err)
		}
	}
	return made, nil
}

// Unmake drops again what [MakeSchema] made in a database, as long as no plan is carried out there.
func (m *Made) Unmake(ctx context.Context, in rowio.Database) error {
	target := &rowio.Connection{Database: in, Writes: true, Unchecked: true}
	defer target.Close()
	for _, statement := range slices.Concat(m.drops, m.sequences) { // tables may count by sequences
		if _, err := target.Exec(ctx, "drop", statement, false); err != nil {
			return fmt.Errorf("drop the tables of %q again: %.200s: %w", in.Name, statement, err)
		}
	}
	return nil
}

// nameOf is a kind of database in words.
func nameOf(d sqldb.Dialect) string {
	if d == sqldb.SQLite {
		return "SQLite"
	}
	return "MariaDB or MySQL"
}

// tablesOf is the query for the tables of a database.
func tablesOf(d rowio.Dialect) string {
	if d.MySQL() {
		return "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME"
	}
	return "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
}

// schemaOf are the statements that make the tables, but for those that are left out.
func schemaOf(ctx context.Context, s *rowio.Source, made *Made, without func(table string) bool) (statements []string, err error) {
	if !s.Dialect.MySQL() {
		const query = "SELECT tbl_name, sql, type FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type DESC, name"
		err = s.On.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
			if !without(rowio.Text(row[0])) {
				statements = append(statements, rowio.Text(row[1]))
				if rowio.Text(row[2]) == "table" {
					made.Tables++
					made.drops = append(made.drops, "DROP TABLE IF EXISTS "+s.Dialect.Quote(rowio.Text(row[0])))
				}
			}
			return true, nil
		})
		return statements, err
	}
	// Tables may count by sequences, which a server writes with the name of their database.
	sequences, err := s.On.Texts(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'SEQUENCE' ORDER BY TABLE_NAME")
	var own []string
	if err == nil {
		own, err = s.On.Texts(ctx, "SELECT DATABASE()")
	}
	for _, sequence := range sequences {
		if err == nil {
			err = s.On.Rows(ctx, "SHOW CREATE SEQUENCE "+s.Dialect.Quote(sequence), false, nil, func(row []any) (bool, error) {
				statements = append(statements, rowio.Text(row[1]))
				made.sequences = append(made.sequences, "DROP SEQUENCE IF EXISTS "+s.Dialect.Quote(sequence))
				return true, nil
			})
		}
	}
	if err != nil {
		return nil, err
	}
	from := "DEFAULT nextval(" + s.Dialect.Quote(own[0]) + "."
	tables, err := s.On.Texts(ctx, tablesOf(s.Dialect))
	for _, table := range tables {
		if err != nil || without(table) {
			continue
		}
		err = s.On.Rows(ctx, "SHOW CREATE TABLE "+s.Dialect.Quote(table), false, nil, func(row []any) (bool, error) {
			statements = append(statements, strings.ReplaceAll(WithoutCounter(rowio.Text(row[1])), from, "DEFAULT nextval("))
			made.Tables++
			made.drops = append(made.drops, "DROP TABLE IF EXISTS "+s.Dialect.Quote(table))
			return true, nil
		})
	}
	return statements, err
}

// counterOption is what a server tells of a counter, among the options of a table.
var counterOption = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// WithoutCounter takes the counter out of the options, which stand behind the columns.
func WithoutCounter(create string) string {
	i := strings.LastIndex(create, "\n)")
	if i < 0 {
		return create
	}
	options, rest, _ := strings.Cut(create[i:], " COMMENT=")
	if options = counterOption.ReplaceAllString(options, ""); rest != "" {
		options += " COMMENT=" + rest
	}
	return create[:i] + options
}

// leftBehind are the parts of a schema that hold no rows.
func leftBehind(c *catalog.Catalog) (all []string) {
	for _, view := range c.Views {
		all = append(all, "view "+view)
	}
	for _, t := range c.Tables {
		for _, trigger := range t.Triggers {
			all = append(all, "trigger "+trigger.Name)
		}
	}
	for _, r := range c.Routines {
		all = append(all, strings.ToLower(r.Kind)+" "+r.Name)
	}
	return all
}
