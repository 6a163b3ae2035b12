package servertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// AwaitRunning waits until the server is at work on a statement with the text in it in the database
// that the DSN names, in the form of go-sql-driver/mysql; or, if want is false, until it no longer is.
func AwaitRunning(t testing.TB, dsn, text string, want bool) {
	t.Helper()
	const condition = "ID <> CONNECTION_ID() AND DB = DATABASE() AND LOCATE(?, INFO) > 0"
	awaitConnections(t, dsn, condition, []any{text}, func(ids []int64) bool { return (len(ids) > 0) == want })
}

// AwaitConnections waits until the server has at least so many connections for which the condition
// holds, over the columns of information_schema.PROCESSLIST. DATABASE() is the one that the DSN names,
// in the form of go-sql-driver/mysql.
func AwaitConnections(t testing.TB, dsn string, atLeast int, condition string, args ...any) {
	t.Helper()
	awaitConnections(t, dsn, condition, args, func(ids []int64) bool { return len(ids) >= atLeast })
}

// KillConnections ends the connections for which the condition holds, as [AwaitConnections] sees them.
func KillConnections(t testing.TB, dsn, condition string, args ...any) {
	t.Helper()
	awaitConnections(t, dsn, condition, args, func(ids []int64) bool {
		db := open(t, parse(t, dsn))
		defer db.Close()
		for _, id := range ids {
			db.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)) // if it has not ended meanwhile
		}
		return true
	})
}

func awaitConnections(t testing.TB, dsn, condition string, args []any, enough func(ids []int64) bool) {
	t.Helper()
	db := sqlx.NewDb(open(t, parse(t, dsn)), "mysql")
	defer db.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		// MySQL makes it an error (3854) as long as any connection, of whatever test, runs a statement with bytes in it that
		// are no text: then ask again.
		var ids []int64
		err := db.SelectContext(t.Context(), &ids, "SELECT ID FROM information_schema.PROCESSLIST WHERE "+condition, args...)
		if err == nil && enough(ids) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute there are %d connections with %s %v (%v)", len(ids), condition, args, err)
		}
	}
}
