package sqldb_test

import (
	"testing"

	"mergesafe/internal/sqldb"
)

// Whoever names a dialect that there is not is told which there are.
func TestUnknownDialect(t *testing.T) {
	const want = `store: unknown dialect "oracle": want store.MySQL (also for MariaDB), store.SQLite or store.PostgreSQL`
	if err := sqldb.Dialect("oracle").Linked(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
