package servertest

import (
	"testing"
	"time"
)

// AwaitRunning waits until the server is at work on a statement with the text in it in the database
// that the DSN names, in the form of go-sql-driver/mysql; or, if want is false, until it no longer is.
func AwaitRunning(t testing.TB, dsn, text string, want bool) {
	t.Helper()
	const condition = "ID <> CONNECTION_ID() AND DB = DATABASE() AND LOCATE(?, INFO) > 0"
	awaitConnections(t, dsn, condition, []any{text}, func(n int) bool { return (n > 0) == want })
}

// AwaitConnections waits until the server has at least so many connections for which the condition
// holds, over the columns of information_schema.PROCESSLIST. DATABASE() is the one that the DSN names,
// in the form of go-sql-driver/mysql.
func AwaitConnections(t testing.TB, dsn string, atLeast int, condition string, args ...any) {
	t.Helper()
	awaitConnections(t, dsn, condition, args, func(n int) bool { return n >= atLeast })
}

func awaitConnections(t testing.TB, dsn, condition string, args []any, enough func(int) bool) {
	t.Helper()
	db := open(t, parse(t, dsn))
	defer db.Close()
	query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE " + condition
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		// MySQL makes it an error (3854) as long as any connection, of whatever test, runs a statement with bytes in it that
		// are no text: then ask again.
		var n int
		err := db.QueryRowContext(t.Context(), query, args...).Scan(&n)
		if err == nil && enough(n) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute there are %d connections with %s %v (%v)", n, condition, args, err)
		}
	}
}
