package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/rowio"
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

// Indexes come in the order in which the original has them, with the one that an AUTO_INCREMENT column needs at once.
func TestIndexOrder(t *testing.T) {
	t.Parallel()
	worlds := map[string]rowio.Database{}
	for _, table := range counting {
		world := rowio.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
		run(t, world, table)
		there := rowio.Database{Name: "w", DSN: "mysql:" + servertest.DSN(t)}
		s := read(t, world)
		if err := makeAll(t, s, writer(t, there)); err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		const shown = "SELECT GROUP_CONCAT(CONCAT(INDEX_NAME, '.', COLUMN_NAME)) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"
		want, err := writer(t, world).Texts(t.Context(), shown)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := writer(t, there).Texts(t.Context(), shown); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: made as %s, want %s, %v", table, got, want, err)
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
