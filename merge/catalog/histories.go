package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// History is a table in which a tool notes the migrations of a schema that it has
// carried out. It says what a database is, and is no row of the game.
type History struct {
	Tool    string
	table   string   // its name, in small letters
	Columns []string // that it has, in small letters
	exact   bool     // it has no others

	// Note reads one row: which migration it is about, and how that ended. It is nil
	// for a table that tells of none.
	Note func(row map[string]string) (migration string, end Ending)
}

// Ending is how a migration ended.
type Ending int

const (
	Applied Ending = iota
	takenBack
	Unfinished
)

// histories are those that are known by name and shape.
var histories = []History{
	{Tool: "goose", table: "goose_db_version", Columns: []string{"id", "version_id", "is_applied"}, Note: func(row map[string]string) (string, Ending) {
		return row["version_id"], endingIf(!isTrue(row["is_applied"]), takenBack)
	}},
	{Tool: "golang-migrate", table: "schema_migrations", Columns: []string{"version", "dirty"}, exact: true, Note: func(row map[string]string) (string, Ending) {
		return row["version"], endingIf(isTrue(row["dirty"]), Unfinished)
	}},
	{Tool: "rails", table: "schema_migrations", Columns: []string{"version"}, exact: true, Note: named("version")},
	{Tool: "rails", table: "ar_internal_metadata", Columns: []string{"key", "value", "created_at", "updated_at"}, exact: true},
	{Tool: "atlas", table: "atlas_schema_revisions", Columns: []string{"version", "description", "applied", "total", "hash"}, Note: func(row map[string]string) (string, Ending) {
		if strings.HasPrefix(row["version"], ".") {
			return "", Applied // a note of the tool itself
		}
		return row["version"], endingIf(row["applied"] != row["total"], Unfinished)
	}},
	{Tool: "flyway", table: "flyway_schema_history", Columns: []string{"installed_rank", "version", "script", "checksum", "success"}, Note: func(row map[string]string) (string, Ending) {
		return cmp.Or(row["version"], row["script"]), endingIf(!isTrue(row["success"]), Unfinished)
	}},
	{Tool: "liquibase", table: "databasechangelog", Columns: []string{"id", "author", "filename", "exectype", "md5sum"}, Note: func(row map[string]string) (string, Ending) {
		return row["filename"] + "::" + row["id"] + "::" + row["author"], endingIf(row["exectype"] == "FAILED" || row["exectype"] == "SKIPPED", takenBack)
	}},
	{Tool: "liquibase", table: "databasechangeloglock", Columns: []string{"id", "locked", "lockgranted", "lockedby"}, exact: true},
	{Tool: "sequelize", table: "sequelizemeta", Columns: []string{"name"}, exact: true, Note: named("name")},
	{Tool: "alembic", table: "alembic_version", Columns: []string{"version_num"}, exact: true, Note: named("version_num")},
}

// named is for histories that have a row only for what was carried out.
func named(column string) func(map[string]string) (string, Ending) {
	return func(row map[string]string) (string, Ending) { return row[column], Applied }
}

func endingIf(is bool, end Ending) Ending {
	if is {
		return end
	}
	return Applied
}

func isTrue(value string) bool {
	return value != "0" && value != "" && !strings.EqualFold(value, "false")
}

// MigrationsOf returns what the table is, if it is one that a tool for migrations keeps.
func (t *Table) MigrationsOf() *History {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	}
	for i := range histories {
		h := &histories[i]
		if strings.EqualFold(t.Name, h.table) && (!h.exact || len(t.Columns) == len(h.Columns)) &&
			!slices.ContainsFunc(h.Columns, func(name string) bool { return !has(name) }) {
			return h
		}
	}
	return nil
}

// History names the migration tool whose history the table is, by its name and its
// columns; "" if it is not one. Such a table is compared and not merged.
func (t *Table) History() string {
	if h := t.MigrationsOf(); h != nil {
		return h.Tool
	}
	return ""
}
