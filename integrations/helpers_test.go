package integrations

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // "pgx"
	_ "modernc.org/sqlite"             // "sqlite"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

// Hero and Clan are kinds of IDs.
type (
	Hero struct{}
	Clan struct{}
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hero returns the ID of sequence n. All have bytes that are 0, and bytes that
// are no text.
func hero(n uint16) gameid.Of[Hero] { return gameid.As[Hero](made(n)) }
func clan(n uint16) gameid.Of[Clan] { return gameid.As[Clan](made(n)) }

func made(n uint16) gameid.ID {
	id, err := gameid.Make(gameid.TimeOf(0xddceac5bd), 7, n)
	if err != nil {
		panic(err)
	}
	return id
}

// database is a fresh and empty one.
type database struct {
	driver, dsn string
	pool        *sql.DB
}

// onEach runs test on SQLite, and on a server.
func onEach(t *testing.T, test func(t *testing.T, d database)) {
	for driver, dsn := range map[string]func(testing.TB) string{
		"sqlite": func(t testing.TB) string {
			return "file:" + filepath.Join(t.TempDir(), "game.db") + "?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)"
		},
		"mysql": func(t testing.TB) string {
			cfg, err := mysql.ParseDSN(servertest.DSN(t))
			must(t, err)
			cfg.ParseTime = true
			return cfg.FormatDSN()
		},
	} {
		t.Run(driver, func(t *testing.T) { test(t, open(t, driver, dsn(t))) })
	}
}

func open(t *testing.T, driver, dsn string) database {
	t.Helper()
	pool, err := sql.Open(driver, dsn)
	must(t, err)
	t.Cleanup(func() { pool.Close() })
	return database{driver, dsn, pool}
}

// exec runs a statement of the test's own.
func (d database) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	_, err := d.pool.ExecContext(t.Context(), statement, args...)
	must(t, err)
}

// hex reads a column as the database itself prints it, without our types: the
// oracle of all that is written.
func (d database) hex(t testing.TB, query string, args ...any) (texts []string) {
	t.Helper()
	rows, err := d.pool.QueryContext(t.Context(), query, args...)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		must(t, rows.Scan(&text))
		texts = append(texts, text.String)
	}
	must(t, rows.Err())
	return texts
}
