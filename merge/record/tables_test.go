package record_test

import (
	"database/sql"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	_ "mergesafe/internal/sqldb/mysql"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// The record can be made on a server whose default row format has no room for its keys.
func TestTablesOfOldRowFormats(t *testing.T) {
	server := servertest.Private(t)
	dsn, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := world.Dialect{Dialect: sqldb.MySQL}
	all := append([]string{"SET GLOBAL innodb_default_row_format = COMPACT"}, record.Statements(d)...)
	for _, statement := range append(all, record.CreateKeys(d), record.CreateMatches(d)) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
}
