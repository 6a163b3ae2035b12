package ledger_test

import (
	"database/sql"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	_ "mergesafe/internal/sqldb/mysql"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
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
	d := rowio.Dialect{Dialect: sqldb.MySQL}
	all := append([]string{"SET GLOBAL innodb_default_row_format = COMPACT"}, ledger.Statements(d)...)
	for _, statement := range append(all, ledger.CreateKeys(d), ledger.CreateMatches(d)) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Error(err)
		}
	}
}
