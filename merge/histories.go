package merge

import (
	"cmp"
	"slices"
	"strings"
)

// history is a table in which a tool notes the migrations of a schema that it has
// carried out. It says what a database is, and is no row of the game.
type history struct {
	tool    string
	table   string   // its name, in small letters
	columns []string // that it has, in small letters
	exact   bool     // it has no others

	// note reads one row: which migration it is about, and how that ended. It is nil
	// for a table that tells of none.
	note func(row map[string]string) (migration string, end ending)
}

// ending is how a migration ended.
type ending int

const (
	applied ending = iota
	takenBack
	unfinished
)

// histories are those that are known by name and shape.
var histories = []history{
	{tool: "goose", table: "goose_db_version", columns: []string{"id", "version_id", "is_applied"}, note: func(row map[string]string) (string, ending) {
		return row["version_id"], endingIf(!isTrue(row["is_applied"]), takenBack)
	}},
	{tool: "golang-migrate", table: "schema_migrations", columns: []string{"version", "dirty"}, exact: true, note: func(row map[string]string) (string, ending) {
		return row["version"], endingIf(isTrue(row["dirty"]), unfinished)
	}},
	{tool: "rails", table: "schema_migrations", columns: []string{"version"}, exact: true, note: named("version")},
	{tool: "rails", table: "ar_internal_metadata", columns: []string{"key", "value", "created_at", "updated_at"}, exact: true},
	{tool: "atlas", table: "atlas_schema_revisions", columns: []string{"version", "description", "applied", "total", "hash"}, note: func(row map[string]string) (string, ending) {
		if strings.HasPrefix(row["version"], ".") {
			return "", applied // a note of the tool itself
		}
		return row["version"], endingIf(row["applied"] != row["total"], unfinished)
	}},
	{tool: "flyway", table: "flyway_schema_history", columns: []string{"installed_rank", "version", "script", "checksum", "success"}, note: func(row map[string]string) (string, ending) {
		return cmp.Or(row["version"], row["script"]), endingIf(!isTrue(row["success"]), unfinished)
	}},
	{tool: "liquibase", table: "databasechangelog", columns: []string{"id", "author", "filename", "exectype", "md5sum"}, note: func(row map[string]string) (string, ending) {
		return row["filename"] + "::" + row["id"] + "::" + row["author"], endingIf(row["exectype"] == "FAILED" || row["exectype"] == "SKIPPED", takenBack)
	}},
	{tool: "liquibase", table: "databasechangeloglock", columns: []string{"id", "locked", "lockgranted", "lockedby"}, exact: true},
	{tool: "sequelize", table: "sequelizemeta", columns: []string{"name"}, exact: true, note: named("name")},
	{tool: "alembic", table: "alembic_version", columns: []string{"version_num"}, exact: true, note: named("version_num")},
}

// named is for histories that have a row only for what was carried out.
func named(column string) func(map[string]string) (string, ending) {
	return func(row map[string]string) (string, ending) { return row[column], applied }
}

func endingIf(is bool, end ending) ending {
	if is {
		return end
	}
	return applied
}

func isTrue(value string) bool {
	return value != "0" && value != "" && !strings.EqualFold(value, "false")
}

// history returns what the table is, if it is one that a tool for migrations keeps.
func (t *Table) history() *history {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	}
	for i := range histories {
		h := &histories[i]
		if strings.EqualFold(t.Name, h.table) && (!h.exact || len(t.Columns) == len(h.columns)) &&
			!slices.ContainsFunc(h.columns, func(name string) bool { return !has(name) }) {
			return h
		}
	}
	return nil
}

// History names the migration tool whose history the table is, by its name and its
// columns; "" if it is not one. Such a table is compared and not merged.
func (t *Table) History() string {
	if h := t.history(); h != nil {
		return h.tool
	}
	return ""
}

// setAside takes the histories of migrations out of the tables to merge. A table that
// is none in one of the databases is none in all.
func setAside(dbs []*database) {
	none := make(map[string]bool)
	for _, db := range dbs {
		for name, t := range db.tables {
			none[name] = none[name] || t.history() == nil
		}
	}
	for _, db := range dbs {
		db.histories = make(map[string]*Table)
		for name, t := range db.tables {
			if !none[name] {
				db.histories[name] = t
				delete(db.tables, name)
			}
		}
	}
}
