package transfer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/sqldb"
)

// A copy has every row of every table, ours too, also while a game runs; then nobody holds
// its servers.
func TestClone(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		from := gameWorld(t, e, "s1", 1, 30, "a")
		odd := "CREATE TABLE odd (id INTEGER NOT NULL PRIMARY KEY, twice INTEGER GENERATED ALWAYS AS (id * 2) STORED, d DOUBLE, b BLOB, t TEXT)"
		exec(t, from, odd, "INSERT INTO odd (id, d, b, t) VALUES (1, 0.1, x'00ff', 'ü'), (2, NULL, NULL, NULL)")
		if strings.HasPrefix(from.DSN, "mysql:") {
			exec(t, from, "CREATE TABLE odder (at DATETIME(6) NULL, n BIGINT UNSIGNED, b BIT(9), j JSON, y YEAR, m DECIMAL(30,10), e ENUM('a','b'))",
				"INSERT INTO odder VALUES ('2026-11-21 03:00:00.123456', 18446744073709551615, b'101', '[1]', 2026, 12345678901234567890.0123456789, 'b')")
		}
		held := number(t, from, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''")
		to := e.fresh(t, "copy")
		left, err := Clone(t.Context(), from, to)
		if err != nil || len(left) > 0 || held != 0 {
			t.Fatal(left, err)
		}
		if diff := cmp.Diff(dump(t, from), dump(t, to)); diff != "" {
			t.Error(diff)
		}
		if _, err := Clone(t.Context(), from, to); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("into a database that is there: %v", err)
		}

		serve(t, from, 1)
		before := dump(t, from, sqldb.RegistryTable)
		running := e.fresh(t, "running")
		if _, err := Clone(t.Context(), from, running); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, dump(t, running, sqldb.RegistryTable)); diff != "" {
			t.Error(diff)
		}
		if n := number(t, running, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''"); n != 0 {
			t.Errorf("%d servers are leased in the copy", n)
		}
		if n := number(t, from, "SELECT COUNT(*) FROM gameid_servers WHERE holder <> ''"); n != 1 {
			t.Errorf("%d servers are leased in the world, want that which runs", n)
		}
	})
}
