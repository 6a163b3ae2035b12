package sqlsource

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/merge"
)

// catalog reads the catalogue of a world and checks what is no matter of the
// schema.
func catalog(t *testing.T, w *world, engine string) *merge.Catalog {
	t.Helper()
	c, err := w.open(t).Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine != engine || c.EngineVersion == "" {
		t.Errorf("engine %q, version %q", c.Engine, c.EngineVersion)
	}
	if d := time.Since(c.Now); d < -time.Minute || d > time.Minute || c.Now.Location() != time.UTC {
		t.Errorf("the clock says %v", c.Now)
	}
	return c
}

func diffCatalog(t *testing.T, want, got *merge.Catalog) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(merge.Catalog{}, "Engine", "EngineVersion", "Now"), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestCatalogSQLite(t *testing.T) {
	w := newSQLiteWorld(t)
	w.exec(t,
		"CREATE TABLE parents (id BLOB PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, note VARCHAR(20), photo BLOB, extra JSON) WITHOUT ROWID",
		"CREATE TABLE children (n INTEGER PRIMARY KEY, parent BLOB NOT NULL REFERENCES PARENTS, Other BLOB, CONSTRAINT o FOREIGN KEY (other) REFERENCES parents (ID))",
		"CREATE TABLE pairs (a INT, b TEXT, c REAL, d, UNIQUE (b, a), PRIMARY KEY (b, a))",
		"CREATE TABLE tokens (token BLOB PRIMARY KEY)",
		"INSERT INTO tokens VALUES (x'0123456789abcdef')",
		"CREATE TABLE indexed (a INT, b TEXT, g AS (a + 1))",
		"CREATE UNIQUE INDEX part ON indexed (a) WHERE a > 0",
		"CREATE UNIQUE INDEX expression ON indexed (a, lower(b))",
		"CREATE UNIQUE INDEX folded ON indexed (b COLLATE NOCASE)",
		"CREATE UNIQUE INDEX plain ON indexed (g, b DESC)",
		"CREATE INDEX not_unique ON indexed (b)",
		"CREATE TABLE keyless (a INT)",
		"CREATE TABLE odd (b TEXT, PRIMARY KEY (b COLLATE NOCASE))",
		"CREATE TABLE counted (n INTEGER PRIMARY KEY AUTOINCREMENT)",
		"CREATE VIRTUAL TABLE words USING fts5(v)",
		"CREATE VIEW seen AS SELECT * FROM keyless",
		"ANALYZE",
	)
	got := catalog(t, w, "sqlite")
	var words []merge.Skipped // and the tables behind it
	for _, s := range got.Skipped {
		if s.Table != "odd" {
			words = append(words, s)
		}
	}
	if len(words) < 2 || words[0] != (merge.Skipped{Table: "words", Reason: "virtual table: what it holds is kept elsewhere"}) {
		t.Errorf("skipped %v", words)
	}
	got.Skipped = got.Skipped[:1]
	diffCatalog(t, &merge.Catalog{
		Tables: []merge.Table{
			{Name: "children", Primary: []string{"n"},
				Columns: []merge.Column{{Name: "n", Type: "INTEGER"}, {Name: "parent", Type: "BLOB", IsID: true}, {Name: "Other", Type: "BLOB", Nullable: true, IsID: true}},
				References: []merge.Reference{
					{Name: "children_fk0", Columns: []string{"Other"}, ToTable: "parents", ToColumns: []string{"id"}},
					{Name: "children_fk1", Columns: []string{"parent"}, ToTable: "parents", ToColumns: []string{"id"}},
				}},
			{Name: "counted", Primary: []string{"n"}, Columns: []merge.Column{{Name: "n", Type: "INTEGER"}}},
			{Name: "indexed",
				Columns: []merge.Column{{Name: "a", Type: "INT", Nullable: true}, {Name: "b", Type: "TEXT", Nullable: true, Collation: "BINARY"}, {Name: "g", Type: "", Nullable: true}},
				Uniques: []merge.Unique{
					{Name: "expression", Columns: []string{"a"}, Unclear: "it covers an expression"},
					{Name: "folded", Columns: []string{"b"}, Unclear: "it compares b under NOCASE, the column under BINARY"},
					{Name: "part", Columns: []string{"a"}, Unclear: "it covers only some of the rows"},
					{Name: "plain", Columns: []string{"g", "b"}},
				}},
			{Name: "keyless", Columns: []merge.Column{{Name: "a", Type: "INT", Nullable: true}}},
			{Name: "pairs", Primary: []string{"b", "a"},
				Columns: []merge.Column{{Name: "a", Type: "INT", Nullable: true}, {Name: "b", Type: "TEXT", Nullable: true, Collation: "BINARY"}, {Name: "c", Type: "REAL", Nullable: true}, {Name: "d", Nullable: true}}},
			{Name: "parents", Primary: []string{"id"},
				Columns: []merge.Column{{Name: "id", Type: "BLOB", IsID: true}, {Name: "name", Type: "TEXT", Nullable: true, Collation: "NOCASE"},
					{Name: "note", Type: "VARCHAR(20)", Nullable: true, Collation: "BINARY"}, {Name: "photo", Type: "BLOB", Nullable: true, Opaque: "BLOB"}, {Name: "extra", Type: "JSON", Nullable: true, Opaque: "JSON"}},
				Uniques: []merge.Unique{{Name: "sqlite_autoindex_parents_2", Columns: []string{"name"}}}},
			{Name: "tokens", Primary: []string{"token"}, Columns: []merge.Column{{Name: "token", Type: "BLOB", Nullable: true}}},
		},
		Skipped: []merge.Skipped{{Table: "odd", Reason: "its primary key cannot be compared: it compares b under NOCASE, the column under BINARY"}},
	}, got)
}

func TestCatalogSQLiteUTF16(t *testing.T) {
	w := newSQLiteWorld(t)
	w.db.SetMaxOpenConns(1)
	w.exec(t, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE texts (v TEXT, n INT)", "INSERT INTO texts VALUES ('a', 1)")
	s := w.open(t)
	if _, err := collect(s.Scan(t.Context(), by("texts", "v"))); err == nil {
		t.Error("texts in UTF-16 were sorted")
	}
	mustCollect(t, s.Scan(t.Context(), by("texts", "n")))
}

func TestCatalogMariaDB(t *testing.T) {
	w := newMariaDBWorld(t)
	w.exec(t,
		"CREATE TABLE parents (id BINARY(10) PRIMARY KEY, name VARCHAR(32) COLLATE utf8mb4_unicode_520_ci NOT NULL UNIQUE, key16 BINARY(16), photo BLOB, note TEXT COLLATE utf8mb4_bin, extra JSON) COLLATE utf8mb4_bin",
		"CREATE TABLE children (n BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, parent BINARY(10), CONSTRAINT up FOREIGN KEY (parent) REFERENCES parents (id))",
		"CREATE TABLE pairs (a INT, b CHAR(5) CHARACTER SET latin1, PRIMARY KEY (b, a), c INT, d VARCHAR(40), UNIQUE both_of (a, c), UNIQUE start (d(7))) COLLATE utf8mb4_bin",
		"CREATE TABLE grandchildren (a INT, b CHAR(5) CHARACTER SET latin1, CONSTRAINT to_pairs FOREIGN KEY (b, a) REFERENCES pairs (b, a))",
		"CREATE TABLE keyless (a INT)",
		"CREATE TABLE prefixed (v TEXT COLLATE utf8mb4_bin, PRIMARY KEY (v(5)))",
		"CREATE TABLE old (a INT PRIMARY KEY) ENGINE=MyISAM",
		"CREATE TABLE versioned (a INT PRIMARY KEY) WITH SYSTEM VERSIONING",
		"CREATE SEQUENCE numbers",
		"CREATE VIEW seen AS SELECT * FROM keyless",
	)
	got := catalog(t, w, "mariadb")
	const own, latin = "utf8mb4_bin", "latin1_swedish_ci"
	diffCatalog(t, &merge.Catalog{
		Tables: []merge.Table{
			{Name: "children", Primary: []string{"n"},
				Columns:    []merge.Column{{Name: "n", Type: "bigint(20) unsigned"}, {Name: "parent", Type: "binary(10)", Nullable: true, IsID: true}},
				References: []merge.Reference{{Name: "up", Columns: []string{"parent"}, ToTable: "parents", ToColumns: []string{"id"}}}},
			{Name: "grandchildren",
				Columns:    []merge.Column{{Name: "a", Type: "int(11)", Nullable: true}, {Name: "b", Type: "char(5)", Nullable: true, Collation: latin}},
				References: []merge.Reference{{Name: "to_pairs", Columns: []string{"b", "a"}, ToTable: "pairs", ToColumns: []string{"b", "a"}}}},
			{Name: "keyless", Columns: []merge.Column{{Name: "a", Type: "int(11)", Nullable: true}}},
			{Name: "pairs", Primary: []string{"b", "a"},
				Columns: []merge.Column{{Name: "a", Type: "int(11)"}, {Name: "b", Type: "char(5)", Collation: latin}, {Name: "c", Type: "int(11)", Nullable: true},
					{Name: "d", Type: "varchar(40)", Nullable: true, Collation: own}},
				Uniques: []merge.Unique{{Name: "both_of", Columns: []string{"a", "c"}}, {Name: "start", Columns: []string{"d"}, Unclear: "it covers only the first 7 characters of d"}}},
			{Name: "parents", Primary: []string{"id"},
				Columns: []merge.Column{{Name: "id", Type: "binary(10)", IsID: true}, {Name: "name", Type: "varchar(32)", Collation: "utf8mb4_unicode_520_ci"},
					{Name: "key16", Type: "binary(16)", Nullable: true}, {Name: "photo", Type: "blob", Nullable: true, Opaque: "BLOB"},
					{Name: "note", Type: "text", Nullable: true, Collation: own, Opaque: "TEXT"}, {Name: "extra", Type: "longtext", Nullable: true, Collation: own, Opaque: "LONGTEXT"}},
				Uniques: []merge.Unique{{Name: "name", Columns: []string{"name"}}}},
		},
		Skipped: []merge.Skipped{
			{Table: "numbers", Reason: "sequence: what it holds beyond its current rows is not read"},
			{Table: "old", Reason: "MyISAM: not part of the snapshot"},
			{Table: "prefixed", Reason: "its primary key cannot be compared: it covers only the first 5 characters of v"},
			{Table: "versioned", Reason: "system versioned: what it holds beyond its current rows is not read"},
		},
	}, got)
}

// The catalogue of an account that may only SELECT is complete, and an account
// that would see a part of it is refused.
func TestCatalogPrivileges(t *testing.T) {
	w := newMariaDBWorld(t)
	w.exec(t, "CREATE TABLE a (id BINARY(10) PRIMARY KEY, name VARCHAR(9) UNIQUE)", "CREATE TABLE b (id BINARY(10) PRIMARY KEY, FOREIGN KEY (id) REFERENCES a (id))")
	full := catalog(t, w, "mariadb")
	reader := &world{dsn: "mysql:" + grant(t, "SELECT", w)}
	diffCatalog(t, full, catalog(t, reader, "mariadb"))
}
