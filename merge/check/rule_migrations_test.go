package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// with adds a table of text and integer columns to a database, the first of which is
// the key. A name that ends in # is an integer.
func with(db *mergetest.Database, table, columns string, rows ...mergetest.Row) {
	t := catalog.Table{Name: table}
	for _, name := range strings.Fields(columns) {
		c := catalog.Column{Name: name, Type: "TEXT", Kind: catalog.KindText, Collation: mergetest.Binary, Nullable: true}
		if n, is := strings.CutSuffix(name, "#"); is {
			c = catalog.Column{Name: n, Type: "INTEGER", Kind: catalog.KindInteger}
		}
		t.Columns = append(t.Columns, c)
	}
	t.Primary = []string{t.Columns[0].Name}
	db.Schema.Tables = append(db.Schema.Tables, t)
	db.Rows[table] = rows
}

// Histories of migrations are compared, and nothing else is said of them.
func TestMigrations(t *testing.T) {
	type row = mergetest.Row
	goose := func(id, version, applied int64) row {
		return row{"id": id, "version_id": version, "is_applied": applied, "tstamp": "now"}
	}
	flyway := func(rank int64, version any, script string, success int64) row {
		return row{"installed_rank": rank, "version": version, "script": script, "checksum": int64(7), "success": success, "description": "d"}
	}
	const gooseColumns, flywayColumns = "id# version_id# is_applied# tstamp", "installed_rank# version script checksum# success# description"
	const atlasColumns = "version description applied# total# hash"
	atlas := func(version string, applied, total int64) row {
		return row{"version": version, "description": "d", "applied": applied, "total": total, "hash": "h"}
	}
	change := func(id string) row {
		return row{"ID": id, "AUTHOR": "ann", "FILENAME": "a.xml", "EXECTYPE": "EXECUTED", "MD5SUM": "9:x"}
	}
	for _, tt := range []struct {
		name, table, columns string
		a, b                 []row
		want                 verdict.Verdict
		message              string
	}{
		{"goose, the same", "goose_db_version", gooseColumns, []row{goose(1, 0, 1), goose(2, 20240101, 1)}, []row{goose(1, 0, 1), goose(9, 20240101, 1)}, verdict.Pass, "goose: 2 migrations up to 20240101 in every database"},
		{"goose, one less", "goose_db_version", gooseColumns, []row{goose(1, 0, 1), goose(2, 20240101, 1)}, []row{goose(1, 0, 1)}, verdict.Fail, "goose: 2 migrations up to 20240101 in s1; goose: migration 0 in s2, without 20240101"},
		{"goose, one taken back", "goose_db_version", gooseColumns, []row{goose(1, 9, 1), goose(2, 10, 1)}, []row{goose(1, 9, 1), goose(2, 10, 1), goose(3, 10, 0)}, verdict.Fail, "up to 10 in s1; goose: migration 9 in s2, without 10"},
		{"goose, one between", "goose_db_version", gooseColumns, []row{goose(1, 1, 1), goose(2, 3, 1)}, []row{goose(1, 2, 1), goose(2, 3, 1)}, verdict.Fail, "in s2, without 1, with 2 besides"},
		{"golang-migrate", "schema_migrations", "version# dirty#", []row{{"version": int64(7), "dirty": int64(0)}}, []row{{"version": int64(8), "dirty": int64(0)}}, verdict.Fail, "golang-migrate: migration 7 in s1; golang-migrate: migration 8 in s2"},
		{"golang-migrate, dirty", "schema_migrations", "version# dirty#", []row{{"version": int64(7), "dirty": int64(0)}}, []row{{"version": int64(7), "dirty": int64(1)}}, verdict.NotVerified, "golang-migrate: migration 7 in s1"},
		{"rails", "schema_migrations", "version", []row{{"version": "20240101"}}, []row{{"version": "20240101"}, {"version": "20240102"}}, verdict.Fail, "rails: migration 20240101 in s1; rails: 2 migrations up to 20240102 in s2, with 20240102 besides"},
		{"rails, its other table", "ar_internal_metadata", "key value created_at updated_at", []row{{"key": "environment", "value": "a"}}, []row{{"key": "environment", "value": "b"}}, "", ""},
		{"atlas", "atlas_schema_revisions", atlasColumns, []row{atlas("1", 2, 2), atlas(".atlas_cloud_identifier", 0, 0)}, []row{atlas("1", 2, 2)}, verdict.Pass, ""},
		{"atlas, half done", "atlas_schema_revisions", atlasColumns, []row{atlas("1", 2, 2)}, []row{atlas("1", 1, 2)}, verdict.NotVerified, ""},
		{"flyway", "flyway_schema_history", flywayColumns, []row{flyway(1, "1", "V1.sql", 1), flyway(2, nil, "R__v.sql", 1)}, []row{flyway(1, "1", "V1.sql", 1)}, verdict.Fail, "without R__v.sql"},
		{"flyway, failed", "flyway_schema_history", flywayColumns, []row{flyway(1, "1", "V1.sql", 1)}, []row{flyway(1, "1", "V1.sql", 0)}, verdict.NotVerified, ""},
		{"liquibase", "DATABASECHANGELOG", "ID AUTHOR FILENAME EXECTYPE MD5SUM", []row{change("1"), change("2")}, []row{change("1")}, verdict.Fail, "without a.xml::2::ann"},
		{"liquibase, its lock", "DATABASECHANGELOGLOCK", "ID# LOCKED# LOCKGRANTED LOCKEDBY", []row{{"ID": int64(1)}}, []row{{"ID": int64(1)}}, "", ""},
		{"sequelize", "SequelizeMeta", "name", []row{{"name": "1-a.js"}}, []row{{"name": "1-b.js"}}, verdict.Fail, "in s2, without 1-a.js, with 1-b.js besides"},
		{"alembic", "alembic_version", "version_num", []row{{"version_num": "ae1027a6acf"}}, []row{{"version_num": "ae1027a6acf"}}, verdict.Pass, "alembic: migration ae1027a6acf in every database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := settled(1), settled(2)
			with(a, tt.table, tt.columns, tt.a...)
			with(b, tt.table, tt.columns, tt.b...)
			report := mustCheck(t, rules.Options{}, a, b)
			got := find(report, verdict.CodeSchemaMigration, "", "")
			switch {
			case tt.want == "" && len(got) == 0:
			case tt.want == "" || len(got) != 1 || got[0].Verdict != tt.want || !strings.Contains(got[0].Message, tt.message):
				t.Errorf("got %+v, want %s with %q", got, tt.want, tt.message)
			}
			for _, r := range report.Results {
				if r.Table == tt.table && r.Code != verdict.CodeSchemaMigration {
					t.Errorf("%s: %s %s", r.Code, r.Verdict, r.Message)
				}
			}
		})
	}
	t.Run("in one only", func(t *testing.T) {
		a, b := settled(1), settled(2)
		with(b, "alembic_version", "version_num", row{"version_num": "x"})
		got := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeSchemaMigration, "", "")
		if len(got) != 1 || got[0].Verdict != verdict.NotVerified || got[0].Gaps[0].World != "s1" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("of another shape", func(t *testing.T) {
		a, b := settled(1), settled(2)
		with(a, "alembic_version", "version_num", row{"version_num": "x"})
		with(b, "alembic_version", "version_num owner", row{"version_num": "x", "owner": "o"})
		report := mustCheck(t, rules.Options{}, a, b)
		if len(find(report, verdict.CodeSchemaMigration, "", "")) != 0 || len(find(report, verdict.CodeKeyCollision, "alembic_version", "")) != 1 {
			t.Error("a table that is the game's in one database is not treated as such")
		}
	})
}
