package world

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// catalog reads the catalogue of a world and checks what is no matter of the
// schema.
func described(t *testing.T, w *world, engine string) *catalog.Catalog {
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

func diffCatalog(t *testing.T, want, got *catalog.Catalog) {
	t.Helper()
	for _, c := range []*catalog.Catalog{want, got} {
		for i := range c.Tables { // sizes are a matter of the server
			c.Tables[i].Conditions = slices.DeleteFunc(c.Tables[i].Conditions, func(c catalog.Condition) bool { return c.Kind == catalog.ConditionSize })
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(catalog.Catalog{}, "Engine", "EngineVersion", "Now", "Collation", "About"), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestCatalogSQLite(t *testing.T) {
	t.Parallel()
	w := newSQLiteWorld(t)
	w.exec(t,
		"CREATE TABLE parents (id BLOB PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, note VARCHAR(20), photo BLOB, extra JSON) WITHOUT ROWID",
		"CREATE TABLE children (n INTEGER PRIMARY KEY, parent BLOB NOT NULL REFERENCES PARENTS, Other BLOB, CONSTRAINT o FOREIGN KEY (other) REFERENCES parents (ID))",
		"CREATE TABLE pairs (a INT, b TEXT, c REAL, d, UNIQUE (b, a), PRIMARY KEY (b, a))",
		"CREATE TABLE tokens (token BLOB PRIMARY KEY)",
		"INSERT INTO tokens VALUES (x'0123456789abcdef')",
		"CREATE TABLE indexed (a INT, b TEXT, g AS (a + (1)))",
		"CREATE UNIQUE INDEX part ON indexed (a) WHERE a > 0",
		"CREATE UNIQUE INDEX expression ON indexed (a, lower(b))",
		"CREATE UNIQUE INDEX folded ON indexed (b COLLATE NOCASE)",
		"CREATE UNIQUE INDEX plain ON indexed (g, b DESC)",
		"CREATE INDEX not_unique ON indexed (b)",
		"CREATE TABLE keyless (a INT DEFAULT 5)",
		"CREATE TABLE odd (b TEXT, PRIMARY KEY (b COLLATE NOCASE))",
		"CREATE TABLE counted (n INTEGER PRIMARY KEY AUTOINCREMENT)",
		"INSERT INTO counted VALUES (7)", "DELETE FROM counted",
		"INSERT INTO children VALUES (41, x'00010203040506070809', NULL)",
		"CREATE TRIGGER After_children /* BEFORE */ INSERT ON CHILDREN BEGIN SELECT 1; END",
		"CREATE TRIGGER keep AFTER UPDATE OF n ON children BEGIN SELECT 1; END",
		"CREATE VIRTUAL TABLE words USING fts5(v)",
		"CREATE VIEW seen AS SELECT * FROM keyless",
		"ANALYZE",
	)
	got := described(t, w, "sqlite")
	var words []catalog.Skipped // and the tables behind it
	for _, s := range got.Skipped {
		if s.Table != "odd" {
			words = append(words, s)
		}
	}
	if len(words) < 2 || words[0] != (catalog.Skipped{Table: "words", Reason: "virtual table: its contents are stored elsewhere"}) {
		t.Errorf("skipped %v", words)
	}
	if got.About["children"] != 1 || got.About["counted"] != 0 {
		t.Errorf("about as many rows: %v", got.About)
	}
	got.Skipped = got.Skipped[:1]
	diffCatalog(t, &catalog.Catalog{
		Tables: []catalog.Table{
			{Name: "children", Primary: []string{"n"}, AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 42, Max: math.MaxInt64, Endless: true},
				Columns: []catalog.Column{{Name: "n", Type: "INTEGER", Kind: catalog.KindInteger}, {Name: "parent", Type: "BLOB", Kind: catalog.KindBytes, IsID: true}, {Name: "Other", Type: "BLOB", Kind: catalog.KindBytes, Nullable: true, IsID: true}},
				References: []catalog.Reference{
					{Name: "children_fk0", Columns: []string{"Other"}, ToTable: "parents", ToColumns: []string{"id"}},
					{Name: "children_fk1", Columns: []string{"parent"}, ToTable: "parents", ToColumns: []string{"id"}},
				}},
			{Name: "counted", Primary: []string{"n"}, AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 8, Max: math.MaxInt64}, Columns: []catalog.Column{{Name: "n", Type: "INTEGER", Kind: catalog.KindInteger}}},
			{Name: "indexed",
				Columns: []catalog.Column{{Name: "a", Type: "INT", Kind: catalog.KindInteger, Nullable: true}, {Name: "b", Type: "TEXT", Kind: catalog.KindText, Nullable: true, Collation: "BINARY"}, {Name: "g", Type: "", Kind: catalog.KindAny, Nullable: true, Generated: "a + (1)"}},
				Uniques: []catalog.Unique{
					{Name: "expression", Columns: []string{"a", "(an expression)"}, Unclear: "it covers an expression"},
					{Name: "folded", Columns: []string{"b"}, Unclear: "it compares b under NOCASE, the column under BINARY"},
					{Name: "part", Columns: []string{"a"}, Unclear: "it covers only some of the rows"},
					{Name: "plain", Columns: []string{"g", "b"}},
				}},
			{Name: "keyless", Columns: []catalog.Column{{Name: "a", Type: "INT", Kind: catalog.KindInteger, Nullable: true, Default: &[]string{"5"}[0]}}},
			{Name: "pairs", Primary: []string{"b", "a"},
				Columns: []catalog.Column{{Name: "a", Type: "INT", Kind: catalog.KindInteger, Nullable: true}, {Name: "b", Type: "TEXT", Kind: catalog.KindText, Nullable: true, Collation: "BINARY"}, {Name: "c", Type: "REAL", Kind: catalog.KindReal, Nullable: true}, {Name: "d", Kind: catalog.KindAny, Nullable: true}}},
			{Name: "parents", Primary: []string{"id"},
				Columns: []catalog.Column{{Name: "id", Type: "BLOB", Kind: catalog.KindBytes, IsID: true}, {Name: "name", Type: "TEXT", Kind: catalog.KindText, Nullable: true, Collation: "NOCASE"},
					{Name: "note", Type: "VARCHAR(20)", Kind: catalog.KindText, Nullable: true, Collation: "BINARY"}, {Name: "photo", Type: "BLOB", Kind: catalog.KindBytes, Nullable: true, Opaque: "BLOB"}, {Name: "extra", Type: "JSON", Kind: catalog.KindAny, Nullable: true}},
				Uniques: []catalog.Unique{{Name: "sqlite_autoindex_parents_2", Columns: []string{"name"}}}},
			{Name: "tokens", Primary: []string{"token"}, Columns: []catalog.Column{{Name: "token", Type: "BLOB", Kind: catalog.KindBytes, Nullable: true}}},
		},
		Views:   []string{"seen"},
		Skipped: []catalog.Skipped{{Table: "odd", Reason: "its primary key cannot be compared: it compares b under NOCASE, the column under BINARY"}},
	}, got)
}

func TestCatalogSQLiteUTF16(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	servertest.OnlyMariaDB(t, "it has sequences, periods and system versions")
	w := newServerWorld(t)
	w.exec(t,
		"CREATE TABLE parents (id BINARY(10) PRIMARY KEY, name VARCHAR(32) COLLATE utf8mb4_unicode_520_ci NOT NULL UNIQUE, key16 BINARY(16), photo BLOB, note TEXT COLLATE utf8mb4_bin, extra JSON) COLLATE utf8mb4_bin",
		"CREATE TABLE children (n BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, parent BINARY(10), CONSTRAINT up FOREIGN KEY (parent) REFERENCES parents (id))",
		"CREATE TABLE pairs (a INT, b CHAR(5) CHARACTER SET latin1, PRIMARY KEY (b, a), c INT, d VARCHAR(40), UNIQUE both_of (a, c), UNIQUE start (d(7))) COLLATE utf8mb4_bin",
		"CREATE TABLE grandchildren (a INT, b CHAR(5) CHARACTER SET latin1, CONSTRAINT to_pairs FOREIGN KEY (b, a) REFERENCES pairs (b, a))",
		"INSERT INTO children (n) VALUES (41)",
		"CREATE TABLE keyless (a INT, b INT DEFAULT 5, c INT AS (a + 1) STORED, d VARCHAR(9) DEFAULT 'NULL') COLLATE utf8mb4_bin",
		"CREATE TABLE parts (a INT, b INT, PRIMARY KEY (a, b)) PARTITION BY RANGE (a) SUBPARTITION BY HASH (b) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
		"CREATE TRIGGER fires BEFORE INSERT ON keyless FOR EACH ROW SET NEW.a = 1",
		"CREATE TABLE prefixed (v TEXT COLLATE utf8mb4_bin, PRIMARY KEY (v(5)))",
		"CREATE TABLE old (a INT PRIMARY KEY) ENGINE=MyISAM",
		"CREATE TABLE listed (a INT NOT NULL) ENGINE=CSV",
		"CREATE TABLE booked (a INT, s DATE, e DATE, PERIOD FOR p (s, e), UNIQUE (a, p WITHOUT OVERLAPS))",
		"CREATE TABLE versioned (a INT PRIMARY KEY) WITH SYSTEM VERSIONING",
		"CREATE SEQUENCE numbers",
		"CREATE VIEW seen AS SELECT * FROM keyless",
	)
	got := described(t, w, "mariadb")
	const own, latin = "utf8mb4_bin", "latin1_swedish_ci"
	diffCatalog(t, &catalog.Catalog{
		Tables: []catalog.Table{
			{Name: "booked", Engine: "InnoDB",
				Columns: []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true}, {Name: "s", Type: "date", Kind: catalog.KindTime}, {Name: "e", Type: "date", Kind: catalog.KindTime}},
				Uniques: []catalog.Unique{{Name: "a", Columns: []string{"a", "e", "s"}, Unclear: "it prevents overlapping periods, which only the new database can test (apply -try)"}}},
			{Name: "children", Engine: "InnoDB", AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 42, Max: math.MaxUint64 - 1}, Primary: []string{"n"},
				Columns:    []catalog.Column{{Name: "n", Type: "bigint(20) unsigned", Kind: catalog.KindInteger}, {Name: "parent", Type: "binary(10)", Kind: catalog.KindBytes, Nullable: true, IsID: true}},
				References: []catalog.Reference{{Name: "up", Columns: []string{"parent"}, ToTable: "parents", ToColumns: []string{"id"}}}},
			{Name: "grandchildren", Engine: "InnoDB",
				Columns:    []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true}, {Name: "b", Type: "char(5)", Kind: catalog.KindText, Nullable: true, Collation: latin}},
				References: []catalog.Reference{{Name: "to_pairs", Columns: []string{"b", "a"}, ToTable: "pairs", ToColumns: []string{"b", "a"}}}},
			{Name: "keyless", Engine: "InnoDB",
				Columns: []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true}, {Name: "b", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true, Default: &[]string{"5"}[0]},
					{Name: "c", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true, Generated: "`a` + 1"}, {Name: "d", Type: "varchar(9)", Kind: catalog.KindText, Collation: own, Nullable: true, Default: &[]string{"'NULL'"}[0]}}},
			{Name: "old", Engine: "MyISAM", Outside: "MyISAM: not part of the snapshot", Primary: []string{"a"}, Columns: []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger}}},
			{Name: "pairs", Engine: "InnoDB", Primary: []string{"b", "a"},
				Columns: []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger}, {Name: "b", Type: "char(5)", Kind: catalog.KindText, Collation: latin}, {Name: "c", Type: "int(11)", Kind: catalog.KindInteger, Nullable: true},
					{Name: "d", Type: "varchar(40)", Kind: catalog.KindText, Nullable: true, Collation: own}},
				Uniques: []catalog.Unique{{Name: "both_of", Columns: []string{"a", "c"}}, {Name: "start", Columns: []string{"d"}, Unclear: "it covers only the first 7 characters of d"}}},
			{Name: "parents", Engine: "InnoDB", Primary: []string{"id"},
				Columns: []catalog.Column{{Name: "id", Type: "binary(10)", Kind: catalog.KindBytes, IsID: true}, {Name: "name", Type: "varchar(32)", Kind: catalog.KindText, Collation: "utf8mb4_unicode_520_ci"},
					{Name: "key16", Type: "binary(16)", Kind: catalog.KindBytes, Nullable: true}, {Name: "photo", Type: "blob", Kind: catalog.KindBytes, Nullable: true, Opaque: "BLOB"},
					{Name: "note", Type: "text", Kind: catalog.KindText, Nullable: true, Collation: own}, {Name: "extra", Type: "longtext", Kind: catalog.KindText, Nullable: true, Collation: own}},
				Uniques:    []catalog.Unique{{Name: "name", Columns: []string{"name"}}},
				Conditions: []catalog.Condition{{Kind: catalog.ConditionCheck, Text: "json_valid(`extra`)", Columns: []string{"extra"}}}},
			{Name: "parts", Engine: "InnoDB", Primary: []string{"a", "b"}, Partitions: "RANGE(`a`), HASH(`b`)",
				Columns: []catalog.Column{{Name: "a", Type: "int(11)", Kind: catalog.KindInteger}, {Name: "b", Type: "int(11)", Kind: catalog.KindInteger}}},
		},
		Sequences: []catalog.Sequence{{Name: "numbers", Next: keys.Integer{Bits: 1}, Max: keys.Integer{Bits: 1<<63 - 2}, Increment: 1}},
		Views:     []string{"seen"},
		Skipped: []catalog.Skipped{
			{Table: "listed", Reason: "CSV: not part of the snapshot"},
			{Table: "numbers", Reason: "sequence: what it holds beyond its current rows is not read"},
			{Table: "prefixed", Reason: "its primary key cannot be compared: it covers only the first 5 characters of v"},
			{Table: "versioned", Reason: "system versioned: what it holds beyond its current rows is not read"},
		},
	}, got)
}

// What MySQL tells in its own way: no widths of integers, expressions in brackets, JSON as a type.
func TestCatalogMySQL(t *testing.T) {
	t.Parallel()
	servertest.Needs(t, servertest.MySQL)
	w := newServerWorld(t)
	w.exec(t,
		"CREATE TABLE parents (id BINARY(10) PRIMARY KEY, name VARCHAR(32) NOT NULL UNIQUE, note TEXT COLLATE utf8mb4_bin, extra JSON)",
		"CREATE TABLE children (n BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, parent BINARY(10), CONSTRAINT up FOREIGN KEY (parent) REFERENCES parents (id))",
		"INSERT INTO children (n) VALUES (41)",
		"CREATE TABLE keyless (a INT, b INT DEFAULT 5, c INT AS (a + 1) STORED)",
		"CREATE TABLE parts (a INT, b INT, PRIMARY KEY (a, b)) PARTITION BY RANGE (a) SUBPARTITION BY HASH (b) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
		"CREATE TABLE old (a INT PRIMARY KEY) ENGINE=MyISAM",
		"CREATE VIEW seen AS SELECT * FROM keyless",
	)
	const standard = "utf8mb4_0900_ai_ci"
	diffCatalog(t, &catalog.Catalog{
		Tables: []catalog.Table{
			{Name: "children", Engine: "InnoDB", AutoIncrement: &catalog.AutoIncrement{Column: "n", Next: 42, Max: math.MaxUint64 - 1}, Primary: []string{"n"},
				Columns:    []catalog.Column{{Name: "n", Type: "bigint unsigned", Kind: catalog.KindInteger}, {Name: "parent", Type: "binary(10)", Kind: catalog.KindBytes, Nullable: true, IsID: true}},
				References: []catalog.Reference{{Name: "up", Columns: []string{"parent"}, ToTable: "parents", ToColumns: []string{"id"}}}},
			{Name: "keyless", Engine: "InnoDB",
				Columns: []catalog.Column{{Name: "a", Type: "int", Kind: catalog.KindInteger, Nullable: true}, {Name: "b", Type: "int", Kind: catalog.KindInteger, Nullable: true, Default: &[]string{"5"}[0]},
					{Name: "c", Type: "int", Kind: catalog.KindInteger, Nullable: true, Generated: "(`a` + 1)"}}},
			{Name: "old", Engine: "MyISAM", Outside: "MyISAM: not part of the snapshot", Primary: []string{"a"}, Columns: []catalog.Column{{Name: "a", Type: "int", Kind: catalog.KindInteger}}},
			{Name: "parents", Engine: "InnoDB", Primary: []string{"id"},
				Columns: []catalog.Column{{Name: "id", Type: "binary(10)", Kind: catalog.KindBytes, IsID: true}, {Name: "name", Type: "varchar(32)", Kind: catalog.KindText, Collation: standard},
					{Name: "note", Type: "text", Kind: catalog.KindText, Nullable: true, Collation: "utf8mb4_bin"}, {Name: "extra", Type: "json", Kind: catalog.KindJSON, Nullable: true}},
				Uniques: []catalog.Unique{{Name: "name", Columns: []string{"name"}}}},
			{Name: "parts", Engine: "InnoDB", Primary: []string{"a", "b"}, Partitions: "RANGE(`a`), HASH(`b`)",
				Columns: []catalog.Column{{Name: "a", Type: "int", Kind: catalog.KindInteger}, {Name: "b", Type: "int", Kind: catalog.KindInteger}}},
		},
		Views: []string{"seen"},
	}, described(t, w, "mysql"))
}

// The catalogue of an account that may only SELECT is complete, but for the
// triggers, and it says so.
func TestCatalogPrivileges(t *testing.T) {
	t.Parallel()
	w := newServerWorld(t)
	w.exec(t,
		"CREATE TABLE a (id BINARY(10) PRIMARY KEY, name VARCHAR(9) DEFAULT 'x' UNIQUE, j JSON, n INT AS (1), p INT AUTO_INCREMENT, KEY (p))",
		"CREATE TABLE b (id BINARY(10) PRIMARY KEY, FOREIGN KEY (id) REFERENCES a (id))",
		"CREATE TABLE c (id INT PRIMARY KEY) PARTITION BY KEY (id) PARTITIONS 2",
		"CREATE TABLE d (a INT, s DATE, e DATE, UNIQUE (a, s, e))",
		"CREATE VIEW v AS SELECT id FROM a",
		"CREATE TRIGGER fires BEFORE INSERT ON b FOR EACH ROW SET NEW.id = 1")
	engine := "mysql"
	if servertest.OnMariaDB(t) {
		engine = "mariadb"
	}
	full := described(t, w, engine)
	if full.HiddenTriggers != "" {
		t.Errorf("hidden from who may do everything: %s", full.HiddenTriggers)
	}
	diffCatalog(t, full, described(t, &world{dsn: "mysql:" + grant(t, "SELECT, TRIGGER", w)}, engine))
	hidden := described(t, &world{dsn: "mysql:" + grant(t, "SELECT", w)}, engine)
	if !strings.Contains(hidden.HiddenTriggers, "it needs GRANT TRIGGER ON `mergesafetest") {
		t.Errorf("hidden: %s", hidden.HiddenTriggers)
	}
	full.HiddenTriggers = hidden.HiddenTriggers
	diffCatalog(t, full, hidden)
}
