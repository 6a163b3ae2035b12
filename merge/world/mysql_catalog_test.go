package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/catalog"
	"mergesafe/merge/verdict"
)

// A unique index on an expression of MySQL is shown with it, each apart from the
// others of its table. MariaDB has no such indexes.
func TestIndexOnExpression(t *testing.T) {
	t.Parallel()
	servertest.Needs(t, servertest.MySQL)
	w := newServerWorld(t)
	w.exec(t, "CREATE TABLE k (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), UNIQUE low ((LOWER(a))), UNIQUE two (b, (id + 1)))")
	want := []catalog.Unique{
		{Name: "low", Columns: []string{"(lower(`a`))"}, Unclear: "it covers the expression lower(`a`)"},
		{Name: "two", Columns: []string{"b", "((`id` + 1))"}, Unclear: "it covers the expression (`id` + 1)"},
	}
	if diff := cmp.Diff(want, described(t, w, "mysql").Tables[0].Uniques); diff != "" {
		t.Error(diff)
	}
	var found []string
	for _, r := range checked(t, w, w).Results {
		if r.Code == verdict.CodeUniqueCollision && r.Verdict == verdict.NotVerified {
			found = append(found, r.Subject)
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{"(b, ((`id` + 1)))", "(lower(`a`))"}, found); diff != "" {
		t.Error(diff)
	}
}

// A database that is dropped before its catalogue is read is not an empty one.
func TestDroppedBeforeCatalog(t *testing.T) {
	for _, server := range []string{servertest.MariaDB, servertest.MySQL} {
		t.Run(server, func(t *testing.T) {
			w := worldOn(server)(t)
			w.exec(t, "CREATE TABLE t (id INT PRIMARY KEY)")
			s := w.open(t)
			name := fmt.Sprintf("%s", w.query(t, "SELECT DATABASE()")[0][0])
			w.exec(t, "DROP DATABASE "+name)
			_, err := s.Catalog(t.Context())
			w.exec(t, "CREATE DATABASE "+name) // the test drops it when it ends
			if err == nil || !strings.Contains(err.Error(), "no such database any more") && !strings.Contains(err.Error(), "Unknown database '"+name) {
				t.Error(err)
			}
		})
	}
}

// Nor is a table that is dropped meanwhile one without columns.
func TestTableWithoutColumns(t *testing.T) {
	_, conn, mock := mocked(t)
	mock.ExpectQuery("information_schema.COLUMNS").WillReturnRows(sqlmock.NewRows([]string{"t"}))
	mock.ExpectQuery("SHOW WARNINGS").WillReturnRows(sqlmock.NewRows([]string{"Level", "Code", "Message"}))
	b := newBuilder()
	b.table("gone")
	if err := mysqlReadColumns(t.Context(), conn, b); err == nil || !strings.Contains(err.Error(), `table "gone" was dropped or renamed`) {
		t.Error(err)
	}
}

// Who asks for the load of a server opens no table.
func TestOpenedCounters(t *testing.T) {
	servertest.Needs(t, servertest.MySQL)
	w := newServerWorld(t)
	const tables = 50
	for i := range tables {
		w.exec(t, fmt.Sprintf("CREATE TABLE t%d (id INT AUTO_INCREMENT PRIMARY KEY)", i))
	}
	opened := make(map[bool]int) // some of the server's own as well
	for _, loadOnly := range []bool{false, true} {
		var name string
		var n int
		if err := w.openWith(t, Options{NoSnapshot: loadOnly}).conn.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Opened_tables'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		opened[loadOnly] = n
	}
	if opened[false] < tables || opened[true] >= tables {
		t.Errorf("tables that were opened, by whether only the load is asked: %v", opened)
	}
}
