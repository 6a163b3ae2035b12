package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// counting are tables whose AUTO_INCREMENT column is in the index of its name, in a later one, or not the first of any.
var counting = []string{
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, PRIMARY KEY (x, n), KEY (n))",
	"CREATE TABLE a (x INT PRIMARY KEY, n INT AUTO_INCREMENT, y INT, KEY kk (n, y), KEY k2 (y))",
	"CREATE TABLE a (x INT PRIMARY KEY, n INT AUTO_INCREMENT, y INT, UNIQUE KEY n (n), KEY k2 (n, y))",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, KEY kk (n))",
	"CREATE TABLE a (x INT NOT NULL, n INT AUTO_INCREMENT, UNIQUE u1 (x), UNIQUE kk (n))",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, y INT, KEY k1 (y), KEY k2 (x, n), KEY n (n), KEY k3 (x))",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, PRIMARY KEY (n, x), KEY kk (n), KEY k2 (x))",
	"CREATE TABLE a (x INT PRIMARY KEY, n INT AUTO_INCREMENT, KEY u2 (n DESC))",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, PRIMARY KEY (x, n), KEY (n)) ENGINE=MyISAM",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, PRIMARY KEY (x, n)) ENGINE=MyISAM",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, y INT, PRIMARY KEY (x), KEY k1 (y), KEY k2 (x, n), KEY k3 (x)) ENGINE=MyISAM",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, PRIMARY KEY (x, n), KEY (n)) PARTITION BY HASH (x) PARTITIONS 3",
	"CREATE TABLE a (x INT, n INT, p POINT NOT NULL, s TEXT, KEY k1 (x), SPATIAL KEY places (p), KEY k2 (n), FULLTEXT KEY words (s), KEY k3 (x, n))",
	"CREATE TABLE a (x INT, n INT AUTO_INCREMENT, p POINT NOT NULL, SPATIAL KEY places (p), KEY n (n), SPATIAL KEY p2 (p), KEY k3 (x, n))",
}

// shownIndexes are the indexes of table a as its server lists them. (information_schema has no order of them.)
func shownIndexes(t *testing.T, d world.Database) (all []string) {
	t.Helper()
	err := writer(t, d).Rows(t.Context(), "SHOW INDEX FROM a", false, nil, func(row []any) (bool, error) {
		all = append(all, world.Text(row[2])+"."+world.Text(row[4]))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Indexes come in the order in which the original has them, with the one that an AUTO_INCREMENT column needs at once.
func TestIndexOrder(t *testing.T) {
	t.Parallel()
	worlds := map[string]world.Database{}
	for _, table := range counting {
		w := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
		run(t, w, table)
		there := world.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
		s := read(t, w)
		if err := makeAll(t, s, writer(t, there)); err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		if got, want := shownIndexes(t, there), shownIndexes(t, w); !slices.Equal(got, want) {
			t.Errorf("%s: made as %q, want %q", table, got, want)
		}
		if all := s.Differences(read(t, there), false); len(all) > 0 {
			t.Errorf("%s: %s", table, strings.Join(all, "\n"))
		}
		worlds[table] = there
	}
	// The comparison sees an order.
	s := read(t, worlds[counting[1]])
	run(t, worlds[counting[1]], "ALTER TABLE a ADD INDEX k3 (n)", "ALTER TABLE a DROP INDEX kk", "ALTER TABLE a ADD INDEX kk (n, y)", "ALTER TABLE a DROP INDEX k3")
	want := "index kk of table a: number 1 there, 2 here"
	if all := strings.Join(s.Differences(read(t, worlds[counting[1]]), false), "\n"); !strings.Contains(all, want) {
		t.Errorf("want %q, got %q", want, all)
	}
}

// A table keeps its row format also if the server had another default when it was made, and settings of the server for
// statements do not matter.
func TestRowFormat(t *testing.T) {
	server := servertest.Private(t)
	e := worldtest.EngineOn(server)
	world, there := e.Fresh(t, "w"), e.Fresh(t, "w")
	run(t, world, "SET GLOBAL innodb_default_row_format = COMPACT", "CREATE TABLE a (id INT PRIMARY KEY, v INT, KEY (v)) COMMENT 'x'",
		"CREATE TABLE p (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2", "CREATE TABLE r (id INT PRIMARY KEY) ROW_FORMAT=REDUNDANT COMMENT 'y'",
		"CREATE TABLE d (id INT PRIMARY KEY) ROW_FORMAT=DYNAMIC")
	if got := obstacles(t, world, there); len(got) != 1 || !strings.Contains(got[0], "SET GLOBAL innodb_default_row_format = DYNAMIC;") {
		t.Errorf("%q", got)
	}
	run(t, world, "SET GLOBAL innodb_default_row_format = DYNAMIC", "CREATE TABLE plain (id INT PRIMARY KEY)")
	if server.Program().MariaDB {
		run(t, world, "SET GLOBAL alter_algorithm = INSTANT")
	}
	if got := obstacles(t, world, there); len(got) > 0 {
		t.Errorf("%q", got)
	}
	s := read(t, world)
	if err := makeAll(t, s, writer(t, there)); err != nil {
		t.Fatal(err)
	}
	if all := s.Differences(read(t, there), false); len(all) > 0 {
		t.Errorf("%q", all)
	}
	const formats = "SELECT CONCAT_WS(' ', TABLE_NAME, ROW_FORMAT) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1"
	want, err := writer(t, world).Texts(t.Context(), formats)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := writer(t, there).Texts(t.Context(), formats); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
	run(t, there, "/*M! SET SESSION alter_algorithm = 'DEFAULT' */", "ALTER TABLE a ROW_FORMAT=DYNAMIC")
	if all := s.Differences(read(t, there), false); len(all) != 1 || !strings.HasPrefix(all[0], "table a: ") {
		t.Errorf("%q", all)
	}
}

// With a binary log, an account without SUPER may not drop a trigger, but its table.
func TestDropTriggers(t *testing.T) {
	server := servertest.Private(t, "--log-bin=log", "--server-id=1")
	d := worldtest.EngineOn(server).Fresh(t, "w")
	run(t, d, "CREATE TABLE x (a INT)", "CREATE TRIGGER t BEFORE INSERT ON x FOR EACH ROW SET @a = 1")
	few := world.Database{Name: "w", DSN: "mysql:" + servertest.Grant(t, "ALL", strings.TrimPrefix(d.DSN, "mysql:"))}
	on := writer(t, few)
	if err := world.DropTables(t.Context(), on, read(t, d).Tables()); err != nil {
		t.Error(err)
	}
	if others, err := world.Contains(t.Context(), on); err != nil || len(others) > 0 {
		t.Errorf("%q, %v", others, err)
	}
}
