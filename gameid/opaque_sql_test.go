package gameid_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "modernc.org/sqlite"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

// database/sql sends no sealed ID to a database and reads none from it, in
// whichever wrapping.
func TestDatabaseRefusesOpaque(t *testing.T) {
	for name, dsn := range map[string]func(testing.TB) string{
		"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "game.db") },
		"mysql":  servertest.DSN,
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open(name, dsn(t))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE players (id BINARY(10) PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
			const insert, read = "INSERT INTO players (id) VALUES (?)", "SELECT id FROM players"

			id := gameid.As[player](gameid.MustParse("02a1d5c3f7b0000c01f4"))
			o := mustCipher(t, standardKey, "player").Seal(id)
			for _, v := range []any{o, &o, sql.Null[gameid.Opaque[player]]{V: o, Valid: true}} {
				if _, err := db.ExecContext(t.Context(), insert, v); err == nil {
					t.Errorf("%T was inserted", v)
				}
			}
			if _, err := db.ExecContext(t.Context(), insert, id); err != nil {
				t.Fatalf("the real ID was not inserted: %v", err)
			}

			var got gameid.Opaque[player]
			var null sql.Null[gameid.Opaque[player]]
			for _, dest := range []any{&got, &null} {
				if err := db.QueryRowContext(t.Context(), read).Scan(dest); err == nil || got.IsValid() || null.V.IsValid() {
					t.Errorf("the column was read into %T: %v, %v", dest, got, err)
				}
			}
			var real gameid.Of[player]
			if err := db.QueryRowContext(t.Context(), read).Scan(&real); err != nil || real != id {
				t.Errorf("the column was read as %s, %v, want %s", real, err, id)
			}
		})
	}
}
