package world

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "mergesafe/internal/sqldb/sqlite"
)

// The list of all tables is made once for a file, not once for each of its objects: a merge reads the file for each
// table, and 400 tables took a minute.
func TestTablesAreListedOnce(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+sqliteObjects)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var lists []string // what each listing of tables is a part of
	steps := map[int]string{}
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps[id] = detail
		if strings.Contains(detail, "VIRTUAL TABLE") {
			lists = append(lists, steps[parent])
		}
	}
	if want := []string{"MATERIALIZE t"}; !slices.Equal(lists, want) {
		t.Errorf("tables are listed as a part of %q, want %q: %v", lists, want, steps)
	}
}
