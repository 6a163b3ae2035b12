package sqldb_test

import (
	"context"
	"fmt"
	"testing"

	"mergesafe/internal/odddsn"
	"mergesafe/internal/sqldb"
)

// Of a DSN that is written wrongly in any of a thousand ways nothing shows its password.
func TestOddDSNs(t *testing.T) {
	t.Chdir(t.TempDir())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, dsn := range odddsn.Each() {
		shown := shownOf(ended, dsn)
		if part := odddsn.Shown(shown); part != "" {
			t.Errorf("%q is shown: ...%s...", dsn, part)
		}
	}
}

// shownOf is all that this package shows of a DSN.
func shownOf(ctx context.Context, dsn string) string {
	server, _ := sqldb.ParseServer(dsn)
	shown := fmt.Sprintln(sqldb.Redact(dsn), server)
	for _, readOnly := range []bool{true, false} {
		_, err := sqldb.Dial(ctx, dsn, readOnly)
		shown += fmt.Sprintf("%v %+v %#v\n", err, err, err)
		if db, err := sqldb.Open(dsn, readOnly); err == nil {
			pool := db.Pool()
			shown += fmt.Sprintf("%v %+v %#v %s %v %+v %#v %#v", db, db, db, db.Place(), pool, pool, pool, pool.DB) + fmt.Sprint(db.Ping(ctx))
			db.Close()
		}
	}
	_, err := sqldb.WithDatabase(dsn, "x")
	return shown + fmt.Sprint(err)
}
