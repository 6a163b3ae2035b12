package sqldb_test

import (
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

// A statement that changes a table does not wait a day for whoever reads it: it fails with an
// error that is tried again, and told.
func TestLockWaitEnds(t *testing.T) {
	db, err := sqldb.Dial(t.Context(), "mysql:"+servertest.DSN(t), false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Pool().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, p := range []sqldb.Purpose{sqldb.WriteRows, sqldb.WriteUnchecked} {
		if _, err := conn.ExecContext(t.Context(), "SET SESSION lock_wait_timeout = DEFAULT"); err != nil {
			t.Fatal(err)
		}
		if err := sqldb.MySQL.Prepare(t.Context(), conn, p); err != nil {
			t.Fatal(err)
		}
		var seconds int
		if err := conn.QueryRowContext(t.Context(), "SELECT @@SESSION.lock_wait_timeout").Scan(&seconds); err != nil || seconds > 30 {
			t.Errorf("purpose %d: it waits %d s, %v", p, seconds, err)
		}
	}
}
