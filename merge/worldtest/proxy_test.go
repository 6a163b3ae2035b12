package worldtest

import (
	"database/sql"
	"sync/atomic"
	"testing"

	"mergesafe/internal/servertest"
)

// What passes through a proxy is what the server says, and a connection that is cut at a COMMIT has lost either the
// transaction or the answer only.
func TestProxy(t *testing.T) {
	dsn := servertest.DSN(t)
	connect := func(dsn string) *sql.DB {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	direct := connect(dsn)
	if _, err := direct.ExecContext(t.Context(), "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB"); err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64 // the cut at the next COMMIT
	p := NewProxy(t, dsn, func(int64) CutAt { return CutAt(next.Load()) })
	db := connect(p.DSN())
	db.SetMaxIdleConns(0) // or the driver would take one that was cut
	for i, test := range []struct {
		cut    CutAt
		fails  bool
		stored int // rows with n = i
	}{{CutNever, false, 1}, {CutBefore, true, 0}, {CutAfter, true, 1}, {CutNever, false, 1}} {
		next.Store(int64(test.cut))
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", i); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); (err != nil) != test.fails {
			t.Errorf("cut %d: COMMIT says %v; want an error: %t", test.cut, err, test.fails)
		}
		// FOR UPDATE waits for what the server has not rolled back yet.
		var n int
		if err := direct.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t WHERE n = ? FOR UPDATE", i).Scan(&n); err != nil || n != test.stored {
			t.Errorf("cut %d: %d rows, %v; want %d", test.cut, n, err, test.stored)
		}
	}
	if n := p.Commits(); n != 4 {
		t.Errorf("%d COMMITs were seen; want 4", n)
	}
}
