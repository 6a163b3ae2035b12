package sqldb_test

import (
	"path/filepath"
	"testing"

	"mergesafe/internal/sqldb"
)

// Statements that a call on a pool, or a function within a transaction, must not carry out are found however they are
// written, in every statement of a text and no word elsewhere.
func TestControl(t *testing.T) {
	const (
		neither = 0
		inDB    = 1
		inTx    = 2
		both    = inDB | inTx
	)
	all := []sqldb.Dialect{sqldb.MySQL, sqldb.SQLite, sqldb.PostgreSQL}
	my, lite, pg := all[:1], all[1:2], all[2:]
	pools := make(map[sqldb.Dialect]*sqldb.DB) // that connect to nothing
	for _, dsn := range []string{"mysql:game@tcp(127.0.0.1:1)/s1", "sqlite:" + filepath.Join(t.TempDir(), "s1.db"), "postgres://game@127.0.0.1:1/s1"} {
		db, err := sqldb.Open(dsn, sqldb.ReadWrite)
		must(t, err)
		defer db.Close()
		pools[db.Dialect()] = db
	}
	for _, test := range []struct {
		dialects []sqldb.Dialect
		allowed  int
		texts    []string
	}{
		{all, neither, []string{
			"BEGIN", "begin", " \t\r\n\v\fBegin ;", "BEGIN WORK", "BEGIN IMMEDIATE", "BEGIN;SELECT 1", "START TRANSACTION", "start /* a */ -- b\n transaction READ ONLY", "COMMIT", "commit work",
			"COMMIT AND CHAIN", "ROLLBACK", "ROLLBACK WORK", "END", "PREPARE TRANSACTION 'a'", "/* a */COMMIT", "-- a\nCOMMIT", "--\nCOMMIT", ";COMMIT", ";; /* a */ ; COMMIT", "/**/commit/**/",
			"SELECT 1; COMMIT", "INSERT INTO t VALUES (';'); ROLLBACK;", "SELECT ';' -- ;\n;END", "UPDATE t SET a = 'it''s'; COMMIT", "CREATE TABLE event (begin INT); COMMIT", "CREATE TABLE t (a INT); BEGIN",
		}},
		{my, neither, []string{
			"# a\nCOMMIT", "/*! COMMIT */", "/*!50000 COMMIT */", "/*!999999*/COMMIT", "/*M!100100 BEGIN*/", "/*! */ /*!50000 START */ TRANSACTION", `SELECT '\';'; COMMIT`, `SELECT "\";"; COMMIT`, "SELECT 1--1; COMMIT",
			"SET autocommit=0", "set AUTOCOMMIT = OFF", "SET SESSION autocommit = 1", "SET LOCAL autocommit := 0", "SET @@autocommit=0", "SET @@session.autocommit=0", "SET @@SESSION . `autocommit` = 0",
			"SET @a = 1, autocommit = 0", "SET sql_mode = '', @@local.autocommit = 0", "SET completion_type = 'CHAIN'", "SET @@completion_type = 1", "/*!40101 SET autocommit=0 */",
			"/*!999999 x */ BEGIN", "/*!999999 SELECT */ COMMIT", "/*!50000 START */ /*!999999 x */ TRANSACTION", "/*!999999 a /* b */ c */ COMMIT", "SET /*!999999 @a = 1, @ */ autocommit = 0",
			"/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ /*!6*/ /*!7*/", "SET STATEMENT max_statement_time=100 FOR START TRANSACTION", "SET STATEMENT sql_mode='' FOR BEGIN", "REPEAT START TRANSACTION; UNTIL 1 END REPEAT", "IF 1 THEN COMMIT; END IF",
			"LOCK TABLES t WRITE", "LOCK TABLE t READ", "UNLOCK TABLES", "USE other", "use`other`", "XA START 'a'", "XA BEGIN 'a'", "XA END 'a'", "XA PREPARE 'a'",
		}},
		{lite, neither, []string{"\ufeffCOMMIT", "CREATE TEMP TABLE trigger (n INT, begin INT); BEGIN", "COMMIT TRANSACTION", "END TRANSACTION", "ROLLBACK TRANSACTION", "SELECT '\\'; COMMIT",
			"CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET a = CASE a WHEN 1 THEN 2 ELSE 3 END; DELETE FROM u; END; BEGIN"}},
		{pg, neither, []string{"ABORT", "-- a\rCOMMIT", "/* a /* b */ c */ COMMIT", "SELECT E'\\';'; COMMIT", "SELECT '\\'; COMMIT", "SELECT $$;$$; COMMIT", "SELECT $a$ $$ ; $a$; COMMIT",
			"SET search_path = other", "SET SESSION search_path TO other", "SET \"search_path\" TO other", "SET SESSION `search_path` TO other",
			"CREATE TEMP TABLE t (trigger INT, begin INT); COMMIT", "SET SCHEMA 'other'",
			"CREATE FUNCTION f() RETURNS INT BEGIN ATOMIC SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 1; END; COMMIT"}},

		{all, inTx, []string{"SAVEPOINT a", "RELEASE a", "RELEASE SAVEPOINT a", "ROLLBACK TO a", "rollback /* b */ to SAVEPOINT a", "ROLLBACK TRANSACTION TO a", "ROLLBACK WORK TO a"}},
		{pg, inTx, []string{"LOCK TABLE t IN SHARE MODE", "LOCK t", "CREATE TEMP TABLE t (a INT) ON COMMIT DROP", "CREATE LOCAL TEMPORARY TABLE t (a INT)", "CREATE OR REPLACE TEMP VIEW v AS SELECT 1"}},
		{my, inTx, []string{"CREATE TEMPORARY TABLE t (a INT)", "CREATE OR REPLACE TEMPORARY TABLE t (a INT)"}},
		{lite, inTx, []string{"CREATE TEMP TABLE t (a INT)", "CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; SELECT RAISE(ROLLBACK, 'x'); END"}},
		{my, inDB, []string{"CREATE TABLE t (a INT)", "ALTER TABLE t ADD b INT", "DROP TABLE t", "TRUNCATE t", "RENAME TABLE t TO u", "GRANT SELECT ON t TO u", "ANALYZE TABLE t", "ANALYZE LOCAL TABLE t", "CHECK TABLE t", "SET PASSWORD = 'a'", "SET STATEMENT max_statement_time=1 FOR DROP TABLE t", "OPTIMIZE TABLE t",
			"CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; END", "CREATE DEFINER=`a`@`b` PROCEDURE p() BEGIN START TRANSACTION; COMMIT; END"}},

		{all, both, []string{
			"", ";", " -- nothing", "/* BEGIN */ SELECT 1", "-- COMMIT\nSELECT 1", "SELECT 'a; COMMIT'", "SELECT '''; COMMIT'", "SELECT 1 /* ; COMMIT */", "SELECT 1; -- COMMIT\n", "SELECT 1;", "WITH commit AS (SELECT 1) SELECT * FROM commit",
			"UPDATE t SET commit = 1", "UPDATE t SET a = 'commit', begin = 'ROLLBACK;BEGIN'", "INSERT INTO begin VALUES (1)", "DELETE FROM commit; DELETE FROM t", "SELECT CASE a WHEN 1 THEN 2 END FROM t", "(SELECT 1)", "EXPLAIN SELECT 1",
			"commits", "beginning", "start", "SELECT 1 AS \"; COMMIT\"", "SELECT 1 AS `; COMMIT`", "REPLACE INTO t VALUES (1)", "VALUES (1)", "PREPARE s FROM 'SELECT 1'", "COMMIT PREPARED 'a'", "ROLLBACK PREPARED 'a'",
		}},
		{my, both, []string{
			"SET @autocommit = 0", "SET @a = @@autocommit", "SET @a = 'autocommit = 0'", "SET GLOBAL autocommit = 0", "SET @@GLOBAL.autocommit = 0", "SET PERSIST completion_type = 1", "SET sql_mode = ''", "SET NAMES utf8mb4",
			"START REPLICA", "START GROUP_REPLICATION", "XA RECOVER", "XA COMMIT 'a'", "XA ROLLBACK 'a'", "DROP TEMPORARY TABLE t", "/*!40101 SET NAMES utf8mb4 */", "/*!999999 x */ SELECT 1", "SELECT 1 # ; COMMIT", "SELECT `begin` FROM t",
			`SELECT '\'; COMMIT'`, `SELECT "a; COMMIT"`, "CALL p()", "LOAD DATA INFILE 'a' INTO TABLE t",
		}},
		{lite, both, []string{"SELECT [; COMMIT] FROM t", "PRAGMA foreign_keys", "CREATE TABLE t (begin INT, 'end' INT)", "CREATE TABLE temp (a INT)",
			"CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET a = CASE a WHEN 1 THEN 2 ELSE 3 END; DELETE FROM u; END; SELECT 1"}},
		{pg, both, []string{"SELECT $$; COMMIT$$", "DO $$ BEGIN PERFORM 1; END $$", "DO 'BEGIN NULL; END'", "SELECT $1 WHERE doc ? 'key'", "SELECT E'\\'; COMMIT'", "SET LOCAL search_path = other", "SET TIME ZONE 'UTC'",
			"CREATE FUNCTION f() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "CREATE FUNCTION f() RETURNS INT BEGIN ATOMIC SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 1; END", "CREATE TABLE t (a INT)", "TRUNCATE t"}},
	} {
		for _, d := range test.dialects {
			db := pools[d]
			for _, text := range test.texts {
				for in, session := range map[int]*sqldb.Session{inDB: &db.Session, inTx: db.Over(nil)} {
					err := session.Control(text)
					if allowed := test.allowed&in != 0; allowed != (err == nil) {
						t.Errorf("%s, in a transaction: %t, %q: got %v, want allowed: %t", d, in == inTx, text, err, allowed)
					}
				}
			}
		}
	}
}
