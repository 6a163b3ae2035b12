package sqldb_test

import (
	"testing"

	"mergesafe/internal/sqldb"
	"mergesafe/store/storetest"
)

var (
	withTables = storetest.WithTables
	open       = storetest.Open
	exec       = storetest.Exec
	must       = storetest.Must
	await      = storetest.Await
	player     = storetest.Player
)

// dial opens a database until the end of the test.
func dial(t testing.TB, dsn string) *sqldb.DB {
	t.Helper()
	db, err := sqldb.Dial(t.Context(), dsn, sqldb.ReadWrite)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}
