package servertest

import (
	"testing"
	"time"
)

// AwaitRunning waits until the server is at work on a statement with the text in it in the database that the DSN names, in
// the form of go-sql-driver/mysql; or, if want is false, until it no longer is.
func AwaitRunning(t testing.TB, dsn, text string, want bool) {
	t.Helper()
	db := open(t, parse(t, dsn))
	defer db.Close()
	const query = "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND DB = DATABASE() AND LOCATE(?, INFO) > 0"
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		// MySQL makes it an error as long as any connection runs a statement with bytes in it that are no text.
		var running bool
		err := db.QueryRowContext(t.Context(), query, text).Scan(&running)
		if err == nil && running == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute it is %t that the server is at work on %q (%v)", running, text, err)
		}
	}
}
