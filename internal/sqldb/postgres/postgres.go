// Package postgres is the dialect of PostgreSQL, and links the driver pgx. Errors of lib/pq are known, too.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
)

func init() { sqldb.Register(sqldb.PostgreSQL, engine{}) }

type engine struct{}

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
	Atomic:    1, // a trigger may leave out a row

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

	Backend: "SELECT pg_backend_pid(), " + thisServer + ", 0",
	Server:  "SELECT " + thisServer,
	Kill:    "SELECT pg_cancel_backend(%d)",
}

// Words implements [sqldb.Engine].
func (engine) Words() *sqldb.Words { return &words }

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
	err = conn.QueryRowxContext(ctx, "SELECT "+thisServer+", CONCAT(current_database(), ' ', current_schema())").Scan(&p.Address, &p.Database)
	p.Cluster = p.Address // no copy says the same
	return p, err
}

// Otherwise implements [sqldb.Sessions].
func (s *sessions) Otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	return s.home.otherwise(ctx, conn)
}

// Judged implements [sqldb.Sessions]. After a context that was cancelled the driver returns its bare error, also
// if the server had been asked. A bad connection is one of lib/pq.
func (*sessions) Judged(_ context.Context, _ *sqlx.Conn, err error) error {
	if errors.Is(err, driver.ErrBadConn) || sqldb.IsContext(err) {
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
	const ofPower = "if the machine of the database loses power, "
	risks := map[string]string{
		"fsync":              ofPower + "its files are damaged",
		"full_page_writes":   ofPower + "half-written pages are lost",
		"synchronous_commit": "if the database server ends without a shutdown, it loses its last commits",
	}
	for _, row := range rows {
		if row.Value == "off" {
			found = append(found, sqldb.Lossy{Variable: row.Name, Value: row.Value, Risk: risks[row.Name], Serious: true,
				Fix: fmt.Sprintf("ALTER SYSTEM SET %s = on; SELECT pg_reload_conf()", row.Name)})
		}
	}
	return found, nil
}
