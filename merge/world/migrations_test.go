package world

import (
	"testing"

	"mergesafe/merge/verdict"
)

// The tables of the tools, as they make them, are known in real databases.
func TestMigrationsOfRealDatabases(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, e engine, target *world) {
		source := e.world(t)
		create := []string{
			"CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTO_INCREMENT, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP)",
			"CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY, dirty BOOLEAN NOT NULL)",
			"CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)",
		}
		if e.name == "sqlite" {
			create[0] = "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))"
			create[1] = "CREATE TABLE schema_migrations (version uint64, dirty bool)"
		}
		for _, w := range []*world{target, source} {
			w.exec(t, create...)
			w.exec(t, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (5, 1)", "INSERT INTO schema_migrations VALUES (12, 0)", "INSERT INTO alembic_version VALUES ('ae10')")
		}
		source.exec(t, "UPDATE alembic_version SET version_num = 'bf11'", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (6, 1), (6, 0)")
		want := map[string]string{
			"goose_db_version":  "goose: 2 migrations up to 5 in every database",
			"schema_migrations": "golang-migrate: migration 12 in every database",
			"alembic_version":   "alembic: migration ae10 in a; alembic: migration bf11 in b, without ae10, with bf11 besides",
		}
		for _, r := range checked(t, target, source).Results {
			if r.Table == "" {
				continue
			}
			if r.Code != verdict.CodeSchemaMigration || r.Message != want[r.Table] {
				t.Errorf("%s %s: %s", r.Code, r.Table, r.Message)
			}
			delete(want, r.Table)
		}
		if len(want) > 0 {
			t.Errorf("not compared: %v", want)
		}
	})
}
