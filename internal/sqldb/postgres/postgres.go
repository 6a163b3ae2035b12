// Package postgres is the dialect of PostgreSQL, and links the driver pgx. Errors of lib/pq are known, too.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/postgres/answers"
)

func init() { sqldb.Register(sqldb.PostgreSQL, engine{}) }

type engine struct{ answers.Meanings }

// ourSchema is the one in which tables are made and looked for.
const ourSchema = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"

// thisServer tells servers apart, by whatever address and with whatever settings they are asked: a restart counts
// as another one, and so does a standby.
const thisServer = "CONCAT((SELECT system_identifier FROM pg_control_system()), ' ', " +
	"EXTRACT(EPOCH FROM pg_postmaster_start_time()))"

var words = sqldb.Words{
	Name: "PostgreSQL", Bind: "pgx", Quote: '"', Dollars: true, MaxArgs: 65535,
	Now:     "(FLOOR(EXTRACT(EPOCH FROM statement_timestamp()) * 1000)::BIGINT)",
	Begin:   "BEGIN",
	Tables:  "SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = " + ourSchema,
	Hex:     "UPPER(ENCODE(%s, 'hex'))",
	Largest: `DECODE(MAX(ENCODE(%s, 'hex') COLLATE "C"), 'hex')`,
	Share:   " FOR SHARE",

	Snapshot:  sql.LevelRepeatableRead,
	Change:    &sql.TxOptions{Isolation: sql.LevelReadCommitted}, // in another one, who waited for a row fails
	Conns:     32,
	Idle:      3 * time.Minute,
	Returning: true,

	Unique: `
		SELECT CASE WHEN i.indisprimary THEN 'PRIMARY' ELSE c.relname END AS name, a.attname AS col, 0 AS i, k.n AS k
		FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
			CROSS JOIN LATERAL unnest(i.indkey::INT2[]) WITH ORDINALITY AS k(att, n)
			LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.att
		WHERE i.indrelid = to_regclass(quote_ident(?)) AND i.indisunique AND i.indpred IS NULL AND k.n <= i.indnkeyatts
		ORDER BY NOT i.indisprimary, c.relname, k.n`,
	TableType: "SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END FROM pg_class WHERE oid = to_regclass(quote_ident(?))",

	OnConflict: " ON CONFLICT DO NOTHING",
	Sound: `
		SELECT CASE WHEN c.relpersistence = 'u' THEN 'UNLOGGED' ELSE '' END AS engine, COALESCE(i.indnkeyatts, 0) AS keyed
		FROM pg_class AS c LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary WHERE c.oid = to_regclass(quote_ident(?))`,
	MendEngine: "SET LOGGED",
	Elsewhere: `
		SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.oid = to_regclass(quote_ident(?)) AND n.nspname <> current_schema()`,

	Backend: "SELECT pg_backend_pid(), " + thisServer,
	Server:  "SELECT " + thisServer,
	Kill:    "SELECT pg_cancel_backend(%d)",
}

// Words implements [sqldb.Engine].
func (engine) Words() *sqldb.Words { return &words }

// setting is one of a session that the code relies on.
type setting struct {
	name string
	good func(value string) bool
	set  string
}

func is(want string) func(string) bool { return func(value string) bool { return value == want } }

// settings are what a session needs, whatever the server, the account, the database or the DSN says.
// Of synchronous_commit, what waits for replicas as well is as good as on.
var settings = []setting{
	{"synchronous_commit", func(value string) bool { return value != "off" }, "on"},
	{"default_transaction_read_only", is("off"), "off"},
	{"standard_conforming_strings", is("on"), "on"},
	{"statement_timeout", is("0"), "0"},
	{"lock_timeout", is("0"), "0"},
	{"client_encoding", is("UTF8"), "UTF8"},
	{"bytea_output", is("hex"), "hex"}, // what the driver reads, unless values come in binary form
	{"datestyle", func(value string) bool { return strings.HasPrefix(value, "ISO") }, "ISO"},
}

// readSettings has the names and values of those, and where the session is.
var readSettings = func() string {
	each := []string{"SELECT 'database' AS name, current_database()::TEXT AS value",
		"SELECT 'schema', COALESCE(current_schema()::TEXT, '')",
		"SELECT 'search_path', current_setting('search_path')"}
	for _, s := range settings {
		each = append(each, fmt.Sprintf("SELECT '%[1]s', current_setting('%[1]s')", s.name))
	}
	return strings.Join(each, " UNION ALL ")
}()

// where is a database and a schema.
type where struct{ Database, Schema, Path string }

// home is where the first connection of a pool was. All others are kept there, whatever schemas and settings come
// later: tables that a search_path does not lead to any more would be made again, and numbers given out twice.
type home struct{ first atomic.Pointer[where] }

var errNoSchema = errors.New("no schema of the search_path exists: create one, or set search_path")

// differing returns what sets the settings of a session that are otherwise, and what puts them back. With fixed the
// schema stands first in the search_path, and stays that if another one is made that would come before.
func (h *home) differing(has map[string]string, fixed bool) (set, was []string, err error) {
	at := &where{has["database"], has["schema"], has["search_path"]}
	if at.Schema != "" {
		h.first.CompareAndSwap(nil, at)
	}
	first := h.first.Load()
	switch {
	case first == nil:
		return nil, nil, errNoSchema
	case first.Database != at.Database:
		return nil, nil, fmt.Errorf("a connection of the pool is in the database %q, want %q", at.Database, first.Database)
	case first.Schema != at.Schema || fixed && !at.fixed():
		set = append(set, fmt.Sprintf("SET SESSION search_path = %s, %s", sqldb.PostgreSQL.Quote(first.Schema), first.Path))
		was = append(was, "SET SESSION search_path = "+at.Path)
	}
	for _, s := range settings {
		if value := has[s.name]; !s.good(value) {
			set, was = append(set, config(s.name, s.set)), append(was, config(s.name, value))
		}
	}
	return set, was, nil
}

// fixed reports whether the schema stands first in the search_path.
func (w *where) fixed() bool {
	before, _, _ := strings.Cut(w.Path, ", ")
	return before == w.Schema || before == sqldb.PostgreSQL.Quote(w.Schema)
}

func config(name, value string) string {
	return fmt.Sprintf("SET SESSION %s = '%s'", name, strings.ReplaceAll(value, "'", "''"))
}

// sessions are the connections of a pool.
type sessions struct {
	sqldb.Plain
	db   *sqldb.DB
	home home
}

// NewSessions implements [sqldb.Engine].
func (engine) NewSessions(db *sqldb.DB) sqldb.Sessions { return &sessions{db: db} }

// Repeats implements [sqldb.Sessions]. lib/pq calls a connection bad that was closed while it waited for an answer,
// and package database/sql then runs the statement again.
func (s *sessions) Repeats() bool {
	_, safe := s.db.Pool().Driver().(*stdlib.Driver)
	return !safe
}

// Adopt implements [sqldb.Sessions].
func (s *sessions) Adopt(ctx context.Context) (name string, manual bool, err error) {
	err = s.db.Guard(ctx, func(conn *sqlx.Conn) error {
		return conn.GetContext(ctx, &name, "SELECT CONCAT('postgres://', "+
			"host(inet_server_addr()) || ':' || inet_server_port(), '/', current_database())")
	})
	if errors.Is(err, errNoSchema) {
		return "", false, nil
	}
	return name, false, err
}

// NoName implements [sqldb.Sessions].
func (*sessions) NoName() error { return fmt.Errorf("store: %w", errNoSchema) }

// Place implements [sqldb.Sessions].
func (*sessions) Place(ctx context.Context, conn *sqlx.Conn) (p sqldb.Place, err error) {
	err = conn.QueryRowxContext(ctx, "SELECT "+thisServer+", CONCAT(current_database(), ' ', current_schema())").Scan(&p.Server, &p.Database)
	return p, err
}

// Otherwise implements [sqldb.Sessions].
func (s *sessions) Otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	has, err := sqldb.Pairs(ctx, conn, readSettings)
	if err != nil {
		return nil, nil, err
	}
	return s.home.differing(has, false)
}

// Judged implements [sqldb.Sessions]. database/sql does not begin a commit when the context has ended, and
// returns its bare error. The driver wraps it, when the server had been asked. A bad connection is one of lib/pq.
func (*sessions) Judged(_ context.Context, _ *sqlx.Conn, err error) error {
	if errors.Is(err, driver.ErrBadConn) ||
		sqldb.IsContext(err) && err != context.Canceled && err != context.DeadlineExceeded {
		return &sqldb.UnansweredError{Err: err}
	}
	return err
}

// Durability implements [sqldb.Engine]. A session of ours waits for its commits, whatever the server's default
// is. The game's own need not, and its rows would be lost.
func (engine) Durability(ctx context.Context, s *sqldb.Session) (found []sqldb.Lossy, err error) {
	var rows []struct{ Name, Value string }
	var standby bool
	err = errors.Join(
		s.Select(ctx, &rows, "SELECT name, reset_val AS value FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes') ORDER BY name"),
		s.Get(ctx, &standby, "SELECT pg_is_in_recovery()"))
	if err == nil && standby {
		err = fmt.Errorf("%w: the server is a standby: name its primary in the DSN, or all servers and target_session_attrs=read-write", sqldb.ErrReadOnly)
	}
	if err != nil {
		return nil, err
	}
	const ofPower = "when the machine of the database loses power, "
	risks := map[string]string{
		"fsync":              ofPower + "its files are damaged",
		"full_page_writes":   ofPower + "pages that were written half are lost",
		"synchronous_commit": "when the database server ends without a shutdown, it forgets what it confirmed in the last moments",
	}
	for _, row := range rows {
		if row.Value == "off" {
			found = append(found, sqldb.Lossy{Variable: row.Name, Value: row.Value, Risk: risks[row.Name], Serious: true,
				Mend: fmt.Sprintf("ALTER SYSTEM SET %s = on; SELECT pg_reload_conf()", row.Name)})
		}
	}
	return found, nil
}
