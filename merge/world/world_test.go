package world_test

import (
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
)

// engine is a kind of database, and the statements that make a world of every kind of object.
type engine struct {
	name  string
	world []string
	fresh func(t testing.TB) world.Database // an empty database, or the file that is not there yet
}

func onEach(t *testing.T, f func(t *testing.T, e engine)) {
	t.Run("sqlite", func(t *testing.T) {
		f(t, engine{"sqlite", sqliteWorld, func(t testing.TB) world.Database {
			return world.Database{Name: "w", DSN: "sqlite:" + filepath.Join(t.TempDir(), "w.db")}
		}})
	})
	t.Run("server", func(t *testing.T) {
		e := engine{"mysql", append(append([]string{}, commonWorld...), mysqlWorld...), func(t testing.TB) world.Database {
			return world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
		}}
		if servertest.OnMariaDB(t) {
			e.name, e.world = "mariadb", append(append([]string{}, commonWorld...), mariadbWorld...)
		}
		f(t, e)
	})
}

// database makes a database by statements.
func (e engine) database(t testing.TB, statements ...string) world.Database {
	t.Helper()
	d := e.fresh(t)
	run(t, d, statements...)
	return d
}

// run carries statements out on one connection.
func run(t testing.TB, d world.Database, statements ...string) {
	t.Helper()
	db, err := sqldb.Dial(t.Context(), d.DSN, sqldb.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	own := name(d)
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), strings.ReplaceAll(s, "{own}", own)); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// name is the name of a database on its server.
func name(d world.Database) string {
	path, _, _ := strings.Cut(d.DSN[strings.LastIndex(d.DSN, "/")+1:], "?")
	return path
}

func writer(t testing.TB, d world.Database) *world.Connection {
	c := &world.Connection{Database: d, Writes: true}
	t.Cleanup(c.Close)
	return c
}

func read(t testing.TB, d world.Database) *world.Schema {
	t.Helper()
	c := &world.Connection{Database: d}
	defer c.Close()
	s, err := world.Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// makeAll carries out all stages but EnableEvents.
func makeAll(t testing.TB, s *world.Schema, to *world.Connection) error {
	ctx := t.Context()
	_, err := s.Create(ctx, to.Database, nil)
	if err == nil {
		err = s.MakeTables(ctx, to)
	}
	for _, o := range s.Objects {
		if err == nil && o.Kind == world.Table {
			err = s.MakeIndexes(ctx, to, o.Name)
		}
	}
	if err == nil {
		err = s.MakeReferences(ctx, to)
	}
	if err == nil {
		err = s.RestoreChecks(ctx, to)
	}
	if err == nil {
		err = s.MakeRest(ctx, to)
	}
	return err
}

var sqliteWorld = []string{
	"PRAGMA user_version = 12", "PRAGMA application_id = 77",
	"CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE UNIQUE, level INT DEFAULT 1 CHECK (level > 0),\n" +
		"  twice INT AS (level * 2) STORED, \"odd, (\"\"name\" TEXT DEFAULT 'KEY (') -- said ' of it",
	"CREATE TABLE item (owner INT REFERENCES player (id) ON DELETE CASCADE, slot INT, PRIMARY KEY (owner, slot)) WITHOUT ROWID",
	"CREATE TABLE strict_one (a INT, b ANY) STRICT",
	"CREATE INDEX by_level ON player (level DESC, lower(name)) WHERE level > 3",
	"CREATE UNIQUE INDEX one_b ON strict_one (b)",
	"CREATE VIEW a_second AS SELECT name FROM b_first",
	"CREATE VIEW b_first AS SELECT name, level FROM player",
	"CREATE TRIGGER later AFTER INSERT ON player BEGIN UPDATE player SET level = 2 WHERE id = NEW.id; END",
	"CREATE TRIGGER on_view INSTEAD OF INSERT ON a_second BEGIN SELECT 1; END",
	"CREATE TABLE gameid_servers (id INT)", "CREATE INDEX ours ON gameid_servers (id)",
	"INSERT INTO player (name) VALUES ('x')",
}

var commonWorld = []string{
	"ALTER DATABASE COLLATE utf8mb4_unicode_ci",
	"CREATE TABLE player (id INT NOT NULL, number INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_german2_ci NOT NULL DEFAULT 'KEY `a` (' COMMENT 'it''s, \\n) \\\\ `x`'," +
		" level INT NOT NULL DEFAULT 1, twice INT AS (level * 2) VIRTUAL, half INT AS (level / 2) STORED, at DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)," +
		" stamp TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00', bag JSON, `odd `` . name, (` TEXT, kind ENUM('a''b', 'c)') , e VARCHAR(9) DEFAULT (CONCAT('x', 1)), place POINT NOT NULL, story TEXT, secret INT INVISIBLE," +
		" PRIMARY KEY (id), KEY number (number, name(5)), UNIQUE KEY by_name (name), KEY `by ``level` (level DESC, id) COMMENT 'of, (it''s)', KEY by_twice (twice), FULLTEXT KEY words (story), FULLTEXT KEY words2 (`odd `` . name, (`), SPATIAL KEY places (place)," +
		" CONSTRAINT positive CHECK (level > 0 AND name <> 'e)' AND story <> 'é)'), CONSTRAINT `CHECK` CHECK (id <> 5)) ENGINE=InnoDB AUTO_INCREMENT=500 ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COMMENT='AUTO_INCREMENT=3, ('",
	"CREATE TABLE item (id INT AUTO_INCREMENT, owner INT, parent INT, PRIMARY KEY (id), KEY owner (owner), CONSTRAINT `owned, (by` FOREIGN KEY (owner) REFERENCES player (id) ON DELETE CASCADE," +
		" CONSTRAINT inside FOREIGN KEY (parent) REFERENCES item (id) ON DELETE SET NULL ON UPDATE CASCADE) KEY_BLOCK_SIZE=8 ROW_FORMAT=COMPRESSED",
	"CREATE TABLE log (id INT NOT NULL, day DATE NOT NULL, text VARCHAR(20), PRIMARY KEY (id, day), KEY t (text)) PARTITION BY RANGE (YEAR(day)) SUBPARTITION BY HASH (id)" +
		" (PARTITION p0 VALUES LESS THAN (2020) (SUBPARTITION s0, SUBPARTITION s1), PARTITION p1 VALUES LESS THAN MAXVALUE (SUBPARTITION s2, SUBPARTITION s3))",
	"CREATE TABLE `späte.re` (a INT, UNIQUE KEY (a)) ENGINE=MyISAM",
	"CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC COMMENT 'it''s' RETURN n * 2",
	"CREATE DEFINER = CURRENT_USER PROCEDURE raise(IN who INT, OUT now INT) SQL SECURITY INVOKER BEGIN -- a ' remark\n UPDATE player SET level = level + 1 WHERE id = who; SELECT 1 INTO now; END",
	"CREATE SQL SECURITY INVOKER VIEW b_first AS SELECT name, level FROM player",
	"CREATE VIEW a_second AS SELECT name, twice(level) AS t FROM b_first WITH CHECK OPTION",
	"CREATE TRIGGER z BEFORE INSERT ON player FOR EACH ROW SET NEW.level = 2",
	"CREATE TRIGGER a BEFORE INSERT ON player FOR EACH ROW PRECEDES z SET NEW.level = 3",
	"CREATE TRIGGER m BEFORE INSERT ON player FOR EACH ROW FOLLOWS a SET NEW.name = 'x\\'y'",
	"SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', collation_connection = utf8mb4_bin",
	"CREATE TRIGGER ansi AFTER UPDATE ON player FOR EACH ROW BEGIN SET @a = 'back\\'; SET @b = \"OLD\".\"level\"; END",
	"SET SESSION sql_mode = '', character_set_client = latin1, collation_connection = latin1_swedish_ci, time_zone = '+03:00'",
	"CREATE PROCEDURE letters() SELECT '\xe9\xe8' AS a",
	"CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01 04:00:00' ON COMPLETION PRESERVE DISABLE ON SLAVE COMMENT 'ENABLE, it''s' DO DELETE FROM log",
	"SET SESSION character_set_client = utf8mb4, collation_connection = utf8mb4_unicode_ci, time_zone = '+00:00'",
	"CREATE EVENT often ON SCHEDULE EVERY 1 HOUR DO BEGIN DELETE FROM log; END",
	"ALTER DATABASE COLLATE utf8mb4_general_ci",
	"CREATE PROCEDURE newer() SELECT 1",
	"CREATE TABLE gameid_servers (id INT)",
	"CREATE TRIGGER ours BEFORE INSERT ON gameid_servers FOR EACH ROW SET @a = 1",
}

var mysqlWorld = []string{
	"CREATE TABLE only_mysql (id INT PRIMARY KEY, a VARCHAR(20), hidden INT /*!80023 INVISIBLE */, same BOOL AS (a COLLATE utf8mb4_bin = 'x'), bin VARCHAR(20) AS (a COLLATE utf8mb4_bin) STORED, place POINT NOT NULL SRID 4326," +
		" KEY lower_a ((LOWER(a)), id), KEY unseen (a) INVISIBLE, FULLTEXT KEY grams (a) WITH PARSER ngram, CONSTRAINT soft CHECK (id > 3) NOT ENFORCED)",
	// ALTER TABLE rewrites the constants of these checks.
	"CREATE TABLE timed (id INT PRIMARY KEY, at TIME, day DATE, year YEAR, big BIGINT, k INT, UNIQUE KEY (k), CONSTRAINT times CHECK (at < '100:00:00' OR day > 20000101), CONSTRAINT numbers CHECK (year > 5 AND big <> '7') NOT ENFORCED)",
	"CREATE TABLE timed_more (id INT PRIMARY KEY, at TIME, KEY (at), CONSTRAINT of_timed FOREIGN KEY (id) REFERENCES timed (k), CONSTRAINT early CHECK (at < '10:00'))",
}

var mariadbWorld = []string{
	"CREATE SEQUENCE numbers START WITH 100 MINVALUE 5 MAXVALUE 500 INCREMENT BY 5 CACHE 10 CYCLE",
	"DO NEXTVAL(numbers)",
	"CREATE SEQUENCE back INCREMENT BY -1 NOCACHE",
	"CREATE TABLE only_mariadb (id INT DEFAULT NEXTVAL(numbers), u UUID NOT NULL, i INET6, z TEXT COMPRESSED, y TEXT, f DATE, t DATE, PERIOD FOR validity (f, t)," +
		" KEY k (i) IGNORED, UNIQUE KEY spans (id, validity WITHOUT OVERLAPS), UNIQUE KEY long_one (u, y)) ENGINE=InnoDB",
	"CREATE TABLE aria_one (a INT, b INT AUTO_INCREMENT, KEY (a, b)) ENGINE=Aria TRANSACTIONAL=1 PAGE_CHECKSUM=1",
	"CREATE VIEW counted AS SELECT LASTVAL(numbers) AS n",
	"CREATE AGGREGATE FUNCTION total(x INT) RETURNS INT BEGIN DECLARE s INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN s; LOOP FETCH GROUP NEXT ROW; SET s = s + x; END LOOP; END",
	"SET SESSION sql_mode = 'ORACLE'",
	"CREATE PACKAGE tools AS FUNCTION one RETURN INT; END",
	"CREATE PACKAGE BODY tools AS FUNCTION one RETURN INT AS BEGIN RETURN 1; END; END",
}
