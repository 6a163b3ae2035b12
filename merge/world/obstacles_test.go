package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// obstacles of a database, if it is made again on its own server.
func obstacles(t testing.TB, w, on world.Database) []string {
	t.Helper()
	all, err := read(t, w).Obstacles(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	c := &world.Connection{Database: w}
	defer c.Close()
	running, err := world.Running(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, o := range append(all, running...) {
		texts = append(texts, o.String())
	}
	return texts
}

// Everything that cannot be carried over is told, and nothing else.
func TestObstacles(t *testing.T) {
	type obstacle struct{ make, want string } // what makes it; the beginning and a part of what is said
	cases := map[string][]obstacle{
		"sqlite": {
			{"CREATE VIRTUAL TABLE found USING fts5 (a)", "table found: it is a virtual table"},
			{"CREATE VIRTUAL TABLE where_is USING rtree (id, a, b)", "table where_is: it is a virtual table"},
			{"CREATE VIEW broken AS SELECT * FROM gone", "view broken: it cannot be read: "},
			{"CREATE TABLE t (a TEXT COLLATE NOCASE); CREATE INDEX i ON t (a); PRAGMA writable_schema = 1;" +
				" UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a TEXT COLLATE game)' WHERE name = 't'",
				"table t: it cannot be created again: "},
			{"CREATE TABLE t (a TEXT, b TEXT AS (a || 'x'), CHECK (a <> 'y')); PRAGMA writable_schema = 1;" +
				` UPDATE sqlite_schema SET sql = replace(sql, '''', '"') WHERE name = 't'`,
				`table t: it cannot be created again: SQL logic error: no such column: "y" - should this be a string literal in single-quotes? (1). To do: create it with texts in single quotes, `},
		},
		"common": {
			{"CREATE DEFINER = `nobody`@`nowhere` FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
				"function f: its definer `nobody`@`nowhere` does not exist on the server"},
			{"CREATE PROCEDURE p() SELECT * FROM {own}.player", "procedure p: it contains the name of the database {own}"},
			{"CREATE PROCEDURE p() SELECT {other}.other.a FROM `{other}` . other", "procedure p: it contains the name of the database {other}"},
			{"CREATE PROCEDURE p() BEGIN PREPARE s FROM 'DELETE FROM {other}.other'; EXECUTE s; END", "procedure p: it contains the name of the database {other}"},
			{"CREATE VIEW v AS SELECT * FROM {other}.other", "view v: it contains the name of the database {other}"},
			{"CREATE TRIGGER t AFTER INSERT ON player FOR EACH ROW DELETE FROM {other}.other", "trigger t of table player: it contains the name of the database {other}"},
			{"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM {own}.player", "event e: it contains the name of the database {own}"},
			{"CREATE TABLE t (a INT, CONSTRAINT there FOREIGN KEY (a) REFERENCES {other}.other (a))", "foreign key there of table t: it contains the name of the database {other}"},
			{"CREATE TABLE t (a INT PRIMARY KEY) ENGINE=MERGE", `table t: its engine "mrg_myisam" keeps no rows`},
			{"CREATE VIEW broken AS SELECT * FROM gone", "view broken: it cannot be read: "},
		},
		"mysql": {{"CREATE LIBRARY l LANGUAGE JAVASCRIPT AS 'x'", "library l: it is not copied"}},
		"mariadb": {
			{"CREATE TABLE t (a INT) WITH SYSTEM VERSIONING", "table t: it is system-versioned"},
		},
	}
	// A table may have the name of the database.
	const same, table = "CREATE PROCEDURE same() SELECT {own}.level FROM {own}", "CREATE TABLE {own} (id INT, level INT)"
	const fine = "CREATE PROCEDURE fine() BEGIN -- {other}.other\n SELECT player.level, 'see {other}.other' FROM player; END"
	const quoted = "CREATE TABLE quoted (a VARCHAR(9) DEFAULT '''' COMMENT '5\" it''s') COMMENT = 'the players'''"
	onEach(t, func(t *testing.T, e engine) {
		all, world := cases[e.name], []string{"CREATE TABLE player (id INTEGER PRIMARY KEY, level INT)", "CREATE TABLE gone (a INT)"}
		other := "none"
		if e.name != "sqlite" {
			all, world = append(cases["common"], all...), append(world, fine, same, table, quoted)
			other = name(e.database(t, "CREATE TABLE other (a INT PRIMARY KEY)"))
		}
		fill := func(s string) string { return strings.ReplaceAll(s, "{other}", other) }
		for i := range world {
			world[i] = fill(world[i])
		}
		if d := e.database(t, world...); len(obstacles(t, d, d)) > 0 {
			t.Errorf("of a world that can be made again: %q", obstacles(t, d, d))
		}
		for _, c := range all {
			d := e.database(t, append(world, fill(c.make), "DROP TABLE gone")...)
			got := obstacles(t, d, d)
			want := strings.ReplaceAll(fill(c.want), "{own}", name(d))
			if len(got) == 0 || !strings.HasPrefix(got[0], want) || !strings.Contains(got[0], ". To do: ") {
				t.Errorf("%s: want %q, got %q", c.make, want, got)
			}
			if len(got) > 1 && got[0] == got[1] {
				t.Errorf("%s: told twice", c.make)
			}
		}
	})
}

// On a server with accounts of few rights, what they may not do is an obstacle.
func TestRights(t *testing.T) {
	d := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
	run(t, d, "CREATE TABLE t (a INT)", "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1", "CREATE VIEW v AS SELECT 1 AS a")
	few := world.Database{Name: "w", DSN: "mysql:" + servertest.Grant(t, "SELECT, EXECUTE, REFERENCES", strings.TrimPrefix(d.DSN, "mysql:"))}
	got := strings.Join(obstacles(t, few, few), "\n")
	for _, want := range []string{"function f: the account may not read its statement. To do: GRANT ", "view v: the account may not read its statement. To do: GRANT "} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	got = strings.Join(obstacles(t, d, few), "\n")
	for _, want := range []string{"is another account, which this account cannot set. To do: GRANT SET", "may not exist: this account cannot see that. To do: GRANT SELECT ON mysql.*"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	s := read(t, few)
	c := &world.Connection{Database: few}
	defer c.Close()
	if grants, unseen, err := s.Grants(t.Context(), c, "new"); err != nil || len(grants) > 0 || !strings.Contains(unseen, "GRANT SELECT ON mysql.*") {
		t.Errorf("%q, %q, %v", grants, unseen, err)
	}
}

// A server of another version is an obstacle, and so are accounts of the system for one that is none.
func TestOtherServer(t *testing.T) {
	d := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
	s := read(t, d)
	s.Version += "1"
	if all, err := s.Obstacles(t.Context(), d); err != nil || len(all) != 1 || all[0].Object != "the server" {
		t.Errorf("%v, %v", all, err)
	}
	if servertest.OnMariaDB(t) {
		return
	}
	run(t, d, "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1")
	few := world.Database{Name: "w", DSN: "mysql:" + servertest.Grant(t, "SELECT", strings.TrimPrefix(d.DSN, "mysql:"))}
	user, _, _ := strings.Cut(strings.TrimPrefix(few.DSN, "mysql:"), ":")
	run(t, d, "GRANT SET_ANY_DEFINER ON *.* TO "+user, "GRANT SELECT ON mysql.* TO "+user)
	if got := obstacles(t, d, few); len(got) != 1 || !strings.Contains(got[0], "is a system user") {
		t.Errorf("%q", got)
	}
}

// While the scheduler runs, an enabled event is an obstacle, and so is one whose time has passed. With a binary log, a
// trigger is one for an account without SUPER.
func TestEvents(t *testing.T) {
	server := servertest.Private(t, "--event-scheduler=ON", "--log-bin=log", "--server-id=1")
	d := worldtest.EngineOn(server).Fresh(t, "w")
	run(t, d, "CREATE TABLE x (a INT)", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SET @a = 1", "CREATE EVENT off ON SCHEDULE EVERY 1 DAY DISABLE DO SET @a = 1")
	if got := obstacles(t, d, d); len(got) != 1 || !strings.HasPrefix(got[0], "event e: it is enabled") {
		t.Errorf("%q", got)
	}
	run(t, d, "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1")
	few := world.Database{Name: "w", DSN: "mysql:" + servertest.Grant(t, "SELECT", strings.TrimPrefix(d.DSN, "mysql:"))}
	if got := strings.Join(obstacles(t, d, few), "\n"); !strings.Contains(got, "trigger t of table x: with a binary log") {
		t.Errorf("%q", got)
	}
	run(t, d, "DROP TRIGGER t", "ALTER EVENT e DISABLE", "SET timestamp = UNIX_TIMESTAMP('2020-01-01')",
		"CREATE EVENT past ON SCHEDULE AT '2020-01-02 00:00:00' DISABLE DO SET @a = 1")
	if got := obstacles(t, d, d); len(got) != 1 || !strings.HasPrefix(got[0], "event past: its last time has passed") {
		t.Errorf("%q", got)
	}
}

// The accounts of a game get in the new database what they have in the old one, also those of a pattern that does
// not fit the new name.
func TestGrants(t *testing.T) {
	d := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
	own := name(d)
	user := func(n int) string { return fmt.Sprintf("'%s%d'@'10.%%'", own[14:28], n) }
	run(t, d, "CREATE TABLE `t``x` (a INT, b INT)", "CREATE PROCEDURE p() SELECT 1",
		"CREATE USER "+user(1), "CREATE USER "+user(2),
		"GRANT SELECT, INSERT ON `"+own[:20]+"%`.* TO "+user(1)+" WITH GRANT OPTION", "GRANT DELETE ON `t``x` TO "+user(2),
		"GRANT UPDATE (a, b) ON `t``x` TO "+user(2), "GRANT EXECUTE ON PROCEDURE p TO "+user(2))
	t.Cleanup(func() {
		db := servertest.Admin(t)
		for n := range 2 {
			if _, err := db.Exec("DROP USER " + user(n+1)); err != nil {
				t.Error(err)
			}
		}
	})
	c := &world.Connection{Database: d}
	defer c.Close()
	s := read(t, d)
	grants, unseen, err := s.Grants(t.Context(), c, "new_one")
	if err != nil || unseen != "" {
		t.Fatal(unseen, err)
	}
	got := strings.Join(grants, "\n")
	for _, want := range []string{
		"GRANT INSERT, SELECT ON `new\\_one`.* TO " + user(1) + " WITH GRANT OPTION;",
		"GRANT DELETE ON TABLE `new_one`.`t``x` TO " + user(2) + ";",
		"GRANT UPDATE (`a`) ON TABLE `new_one`.`t``x` TO " + user(2) + ";",
		"GRANT UPDATE (`b`) ON TABLE `new_one`.`t``x` TO " + user(2) + ";",
		"GRANT EXECUTE ON PROCEDURE `new_one`.`p` TO " + user(2) + ";",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s, got\n%s", want, got)
		}
	}
	if again, _, err := s.Grants(t.Context(), c, own[:20]+"x"); err != nil || strings.Contains(strings.Join(again, ""), user(1)) {
		t.Errorf("the pattern fits the new name, too: %q, %v", again, err)
	}
}

// A file is made with the settings of the world, never beside what is left of another one.
func TestCreateFile(t *testing.T) {
	dir := t.TempDir()
	w := world.Database{Name: "w", DSN: "sqlite:" + dir + "/w.db"}
	run(t, w, "PRAGMA journal_mode = DELETE", "PRAGMA encoding = 'UTF-16le'", "PRAGMA page_size = 8192", "PRAGMA auto_vacuum = 2", "VACUUM",
		"PRAGMA user_version = 3", "PRAGMA application_id = 9", "CREATE TABLE t (a)")
	s := read(t, w)
	to := func(file string) world.Database { return world.Database{Name: file, DSN: "sqlite:" + dir + "/" + file} }
	write := func(file, text string) {
		if err := os.WriteFile(dir+"/"+file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("empty", "")
	for file, wantMade := range map[string]bool{"new": true, "empty": false} {
		for i := range 2 { // once more: it is there
			if made, err := s.Create(t.Context(), to(file), nil); err != nil || made != (wantMade && i == 0) {
				t.Errorf("%s: made %v, %v", file, made, err)
			}
		}
		if err := makeAll(t, s, writer(t, to(file))); err != nil {
			t.Error(err)
		}
		if all := s.Differences(read(t, to(file)), false); len(all) > 0 {
			t.Errorf("%s: %q", file, all)
		}
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		write("beside"+suffix, "x")
		if _, err := s.Create(t.Context(), to("beside"), nil); err == nil || !strings.Contains(err.Error(), suffix) {
			t.Errorf("%s: %v", suffix, err)
		}
		if _, err := os.Stat(dir + "/beside"); err == nil {
			t.Errorf("%s: the file was made", suffix)
		}
		os.Remove(dir + "/beside" + suffix)
	}
	// An empty file that another process is filling stays as it is.
	write("filling", "")
	other := &world.Connection{Database: to("filling"), Writes: true}
	defer other.Close()
	if _, err := other.Exec(t.Context(), "lock", "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE", false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), to("filling"), nil); !errors.Is(err, sqldb.ErrRetryable) {
		t.Errorf("another process fills it: %v", err)
	}
	if info, err := os.Stat(dir + "/filling"); err != nil || info.Size() > 0 {
		t.Errorf("another process fills it: %+v, %v", info, err)
	}
	// A path is taken as connections take it, and an empty file that is there keeps its owner and who may read it.
	if made, err := s.Create(t.Context(), to("gone/../near"), nil); err != nil || !made {
		t.Errorf("a path through a folder that is not there: %t, %v", made, err)
	}
	if all := s.Differences(read(t, to("near")), false); len(all) == 0 {
		t.Error("it is empty, and like the world")
	}
	// A new file has its record when it takes its place, or does not take it.
	killed := errors.New("killed")
	recording := func(err error) func(context.Context, *world.Connection) error {
		return func(ctx context.Context, on *world.Connection) error {
			_, failed := on.Exec(ctx, "create", "CREATE TABLE record (a)", false)
			return errors.Join(failed, err)
		}
	}
	if _, err := s.Create(t.Context(), to("recorded"), recording(killed)); !errors.Is(err, killed) {
		t.Errorf("without its record: %v", err)
	}
	if left, err := filepath.Glob(dir + "/recorded*"); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if made, err := s.Create(t.Context(), to("recorded"), recording(nil)); err != nil || !made {
		t.Errorf("with its record: %t, %v", made, err)
	}
	if has, err := writer(t, to("recorded")).Texts(t.Context(), "SELECT name FROM sqlite_schema"); err != nil || len(has) != 1 {
		t.Errorf("with its record: %v, %v", has, err)
	}
	write("mine", "")
	if err := os.Chmod(dir+"/mine", 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir + "/mine")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), to("mine"), nil); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(dir + "/mine"); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 || !os.SameFile(before, info) {
		t.Errorf("%v, %v", info, err)
	}
	write("two", "")
	if err := os.Link(dir+"/two", dir+"/names"); err != nil {
		t.Fatal(err)
	}
	if err := world.MayMake(to("two")); err == nil || !strings.Contains(err.Error(), "another name") {
		t.Errorf("a file of two names: %v", err)
	}
	if left, _ := filepath.Glob(dir + "/*.making*"); len(left) > 0 {
		t.Error(left)
	}
	run(t, to("other"), "CREATE TABLE t (a)")
	if _, err := s.Create(t.Context(), to("other"), nil); err == nil || !strings.Contains(err.Error(), "8192") {
		t.Errorf("a file with other settings: %v", err)
	}
}

// Of two processes that make one file at the same time one is first, and the other one finds what that made.
func TestCreateFileTwice(t *testing.T) {
	dir := t.TempDir()
	w := world.Database{Name: "w", DSN: "sqlite:" + dir + "/w.db"}
	run(t, w, "PRAGMA page_size = 8192", "VACUUM", "CREATE TABLE t (a)")
	s := read(t, w)
	to := world.Database{Name: "new", DSN: "sqlite:" + dir + "/new"}
	recorded := func(name string) func(context.Context, *world.Connection) error {
		return func(ctx context.Context, on *world.Connection) error {
			_, err := on.Exec(ctx, "create", "CREATE TABLE "+name+" (a)", false)
			return err
		}
	}
	if err := os.WriteFile(dir+"/new.KILLED.making", nil, 0o666); err != nil { // what a process left that was killed
		t.Fatal(err)
	}
	_, err := s.Create(t.Context(), to, func(ctx context.Context, on *world.Connection) error {
		if _, err := s.Create(ctx, to, recorded("first")); err != nil {
			t.Error(err)
		}
		return recorded("second")(ctx, on)
	})
	if err != nil {
		t.Error(err)
	}
	if has, err := writer(t, to).Texts(t.Context(), "SELECT name FROM sqlite_schema"); err != nil || !slices.Equal(has, []string{"first"}) {
		t.Errorf("%q, %v", has, err)
	}
	if left, _ := filepath.Glob(dir + "/*.making*"); len(left) > 0 {
		t.Error(left)
	}
}
