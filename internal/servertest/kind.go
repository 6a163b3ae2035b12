package servertest

import (
	"os"
	"strings"
	"testing"
)

// OnMariaDB reports whether the server that TEST_MYSQL_DSN names is MariaDB, and not MySQL. Where it is not set, the test
// is skipped.
func OnMariaDB(t testing.TB) bool {
	t.Helper()
	var version string
	if err := Admin(t).QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(version, "MariaDB")
}

// OnlyMariaDB skips a test of what MySQL does not have, and says what that is.
func OnlyMariaDB(t testing.TB, reason string) {
	t.Helper()
	if name := os.Getenv(EnvServer); name == MySQL || name == "" && os.Getenv(EnvDSN) != "" && !OnMariaDB(t) {
		t.Skipf("only on MariaDB: %s", reason)
	}
}
