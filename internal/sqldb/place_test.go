package sqldb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

// Two places are one only if the evidence says so, and two only if it says that: DESIGN, "Which database is it?".
func TestPlaces(t *testing.T) {
	const host, copied = "db1 3306 /var/lib/mysql 1", "db2 3306 /var/lib/mysql 1"
	mariadb, mysql := sqldb.Place{Database: "w", Address: host}, sqldb.Place{Database: "w", Server: "aaaa", Address: host}
	with := func(p sqldb.Place, change func(*sqldb.Place)) sqldb.Place {
		change(&p)
		return p
	}
	at := func(address string) func(*sqldb.Place) { return func(p *sqldb.Place) { p.Address = address } }
	named := func(name string) func(*sqldb.Place) { return func(p *sqldb.Place) { p.Database = name } }
	clustered := func(p *sqldb.Place) { p.Cluster, p.Address = "cccc", p.Address+"1" }
	for _, tt := range []struct {
		name   string
		a, b   sqldb.Place
		locked bool
		want   string // same, different, or a part of the reason
	}{
		{"one server, by a lock", mariadb, mariadb, true, "same"},
		{"one server, two databases", mariadb, with(mariadb, named("v")), true, "different"},
		{"names that differ in case", mariadb, with(mariadb, named("W")), true, "different"},
		{"names that differ in case, by what a plan says", mariadb, with(mariadb, named("W")), false, "different"},
		{"names that differ in case, on a server that folds them", with(mariadb, func(p *sqldb.Place) { p.Folds = true }), sqldb.Place{Database: "W", Folds: true, Address: host}, true, "same"},
		{"two servers that say the same, such as containers", mariadb, mariadb, false, "one host name, port, data directory and number"},
		{"two servers", mariadb, with(mariadb, at(copied)), false, "different"},
		{"two servers of MySQL", mysql, sqldb.Place{Database: "w", Server: "bbbb", Address: copied}, false, "different"},
		{"a copied data directory", mysql, with(mysql, at(copied)), false, "the UUID aaaa"},
		{"two UUIDs at one address", mysql, with(mysql, func(p *sqldb.Place) { p.Server = "bbbb" }), false, "one host name"},
		{"two members of a cluster", with(mariadb, clustered), with(with(mariadb, at(copied)), clustered), false, "same"},
		{"two databases of a cluster", with(mariadb, clustered), with(with(mariadb, named("v")), clustered), false, "different"},
		{"a cluster and a server", with(mariadb, clustered), mariadb, false, "different"},
	} {
		for _, order := range [][2]sqldb.Place{{tt.a, tt.b}, {tt.b, tt.a}} {
			same, unclear, err := order[0].Same(order[1], func() (bool, error) { return tt.locked, nil })
			if got := judged(same, unclear); err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
			}
		}
	}
}

func judged(same bool, unclear string) string {
	switch {
	case unclear != "":
		return unclear
	case same:
		return "same"
	}
	return "different"
}

// A file is known by what it is, not by its path.
func TestPlacesOfFiles(t *testing.T) {
	dir := t.TempDir()
	file, other, link, hard := filepath.Join(dir, "w.db"), filepath.Join(dir, "v.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "hard.db")
	for _, path := range []string{file, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if err := os.Link(file, hard); err != nil {
		t.Skip(err)
	}
	open := func() (bool, error) { return false, nil }
	place := func(path string) sqldb.Place {
		p, err := sqldb.SQLite.PlaceOfFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	remote := place(other)
	remote.Remote = "NFS"
	for _, tt := range []struct {
		name   string
		a, b   sqldb.Place
		locked func() (bool, error)
		want   string
	}{
		{"a link", place(file), place(link), open, "same"},
		{"a hard link", place(file), place(hard), open, "same"},
		{"two files", place(file), place(other), open, "different"},
		{"a file elsewhere", place(file), remote, open, "a file on NFS"},
		{"a link, at two moments", place(file), place(link), nil, "same"},
		{"a hard link, at two moments", place(file), place(hard), nil, "different"},
		{"a file that is not there", place(file), place(filepath.Join(dir, "none.db")), open, "different"},
	} {
		same, unclear, err := tt.a.Same(tt.b, tt.locked)
		if got := judged(same, unclear); err != nil || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

// Two names of one server lead to one database there, and two databases of it are two.
func TestOneDatabaseUnderTwoNames(t *testing.T) {
	dsn := "mysql:" + servertest.DSN(t)
	alias := strings.Replace(dsn, "tcp(127.0.0.1:", "tcp(localhost:", 1)
	for other, want := range map[string]string{dsn: "same", alias: "same", "mysql:" + servertest.DSN(t): "different"} {
		a, b := dial(t, dsn), dial(t, other)
		same, unclear, err := sqldb.Same(t.Context(), a, b)
		if got := judged(same, unclear); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}
