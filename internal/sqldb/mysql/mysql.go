// Package mysql is the dialect of MySQL, MariaDB and all that speaks their protocol, and links its driver.
package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
)

func init() { sqldb.Register(sqldb.MySQL, engine{}) }

type engine struct{}

const thisServer = "CONCAT_WS(' ', @@hostname, @@port, @@server_id, @@datadir, @@pid_file)"

var words = sqldb.Words{
	Name: "MySQL", Bind: "mysql", Quote: '`', MaxArgs: 65535,
	Now:    "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000)",
	Begin:  "START TRANSACTION",
	Tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
	Hex:    "HEX(%s)", Largest: "MAX(%s)",
	Share: " LOCK IN SHARE MODE",

	Snapshot: sql.LevelRepeatableRead,
	Conns:    32,
	Idle:     3 * time.Minute, // shorter than any server's or proxy's idle timeout

	ShortPlain: true,
	Explicit:   true,
	Atomic:     math.MaxInt,

	// The limits are for a pool whose sql_select_limit would hide some.
	Unique: `
		SELECT index_name AS name, column_name AS col FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0
		ORDER BY CASE index_name WHEN 'PRIMARY' THEN 0 ELSE 1 END, index_name, seq_in_index LIMIT 10000`,
	TableType: "SELECT table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ? LIMIT 1",

	// No default of a server decides whether our tables have transactions.
	MarkEngine: " ENGINE=InnoDB",
	Ignore:     "IGNORE ",
	// TiDB says InnoDB, too. A primary key that the server made up is none.
	Sound: `SELECT
		(SELECT COALESCE(MAX(engine), '') FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?) AS engine,
		(SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?
			AND index_name = 'PRIMARY' AND column_name <> 'my_row_id') AS keyed`,
	SoundTwice: true,
	Engine:     "InnoDB",
	MendEngine: "ENGINE=InnoDB",

	Backend: "SELECT CONNECTION_ID(), " + thisServer,
	Server:  "SELECT " + thisServer,
	Kill:    "KILL %d",

	// Galera keeps such locks on one node, and Percona XtraDB Cluster may refuse them.
	Lock:   "SELECT GET_LOCK(?, 0)",
	Locked: "SELECT IS_USED_LOCK(?) IS NOT NULL",
	Unlock: "SELECT RELEASE_LOCK(?)",
}

// Words implements [sqldb.Engine].
func (engine) Words() *sqldb.Words { return &words }

// Open implements [sqldb.Engine].
func (engine) Open(dsn string, access sqldb.Access) (o sqldb.Opened, err error) {
	o.Connector, o.Plain, err = openMySQL(dsn, access == sqldb.ReadOnly)
	return o, err
}

// Shown implements [sqldb.Engine].
func (e engine) Shown(dsn string) (string, bool) {
	s, ok := e.ParseServer(dsn)
	account := ""
	switch {
	case s.User != "":
		account = s.User + ":***@"
	case strings.Contains(dsn, "@"):
		account = "***@"
	}
	return fmt.Sprintf("%s%s(%s)/%s", account, s.Network, s.Address, s.Database), ok
}

// sessions are the connections of a pool.
type sessions struct {
	sqldb.Plain
	db       *sqldb.DB
	database atomic.Pointer[string] // that the first connection had selected
	settings question
}

// NewSessions implements [sqldb.Engine].
func (engine) NewSessions(db *sqldb.DB) sqldb.Sessions { return &sessions{db: db} }

// Adopt implements [sqldb.Sessions]. A pool may be one of autocommit=0. Each call on the DB must still be a
// transaction of its own. So a change runs in a transaction that is begun and committed. A query does so too
// if the first connection has autocommit=0: otherwise it would leave a transaction open, with its snapshot and
// its locks.
func (s *sessions) Adopt(ctx context.Context) (name string, manual bool, err error) {
	err = s.db.Pool().QueryRowContext(ctx, "SELECT NOT @@session.autocommit LIMIT 1").Scan(&manual)
	if err == nil {
		err = s.db.Guard(ctx, func(conn *sqlx.Conn) error {
			return conn.GetContext(ctx, &name, "SELECT COALESCE(CONCAT('mysql:tcp(', @@hostname, ':', @@port, ')/', DATABASE()), '')")
		})
	}
	return name, manual, err
}

// NoName implements [sqldb.Sessions].
func (*sessions) NoName() error {
	return errors.New("store: the pool has no database selected: name it in the DSN, after the slash, as in tcp(host:port)/database")
}

// CheckEnds implements [sqldb.Sessions].
// With completion_type CHAIN another transaction is open after a commit: what the game writes next, as a
// statement of its own, is part of that and is lost. With RELEASE the connection is gone.
func (s *sessions) CheckEnds(ctx context.Context) error {
	db := s.db
	var has string
	if err := db.Get(ctx, &has, "SELECT @@session.completion_type LIMIT 1"); err != nil {
		return err
	}
	if strings.EqualFold(has, "NO_CHAIN") {
		return nil
	}
	return fmt.Errorf("store: the sessions of the pool have completion_type = %s, "+
		"so that a commit begins another transaction or closes the connection: "+
		"add completion_type=%%27NO_CHAIN%%27 to its DSN, or on the server: SET GLOBAL completion_type = 'NO_CHAIN'", has)
}

// Place implements [sqldb.Sessions].
func (*sessions) Place(ctx context.Context, conn *sqlx.Conn) (p sqldb.Place, err error) {
	ask := func(query string) (map[string]string, error) { return sqldb.Pairs(ctx, conn, query) }
	has, err := ask(roleVariables)
	if err != nil {
		return p, err
	}
	if p, err = placeOf(has, ask); err != nil {
		return p, err
	}
	return p, conn.GetContext(ctx, &p.Database, "SELECT COALESCE(DATABASE(), '')")
}

// Otherwise implements [sqldb.Sessions].
func (s *sessions) Otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	query, err := s.settings.of(func(query string) (map[string]string, error) { return sqldb.Pairs(ctx, conn, query) })
	if err != nil {
		return nil, nil, err
	}
	columns := make(map[string]any)
	if err := conn.QueryRowxContext(ctx, query).MapScan(columns); err != nil {
		return nil, nil, err
	}
	has := make(map[string]string)
	for name, value := range columns {
		has[name] = text(value)
	}
	if err := tellsSettings(has); err != nil {
		return nil, nil, err
	}
	selected := has["selected"]
	s.database.CompareAndSwap(nil, &selected)
	if database := *s.database.Load(); selected != database {
		// No statement leads a session back to no database: it fails, and the connection is closed.
		set, was = append(set, "USE "+sqldb.MySQL.Quote(database)), append(was, "USE "+sqldb.MySQL.Quote(selected))
	}
	toSet, toPutBack := differing(has)
	if slices.ContainsFunc(toSet, func(set string) bool { return strings.HasPrefix(set, "character_set_connection ") }) {
		toPutBack = append(toPutBack, "collation_connection = "+quoteText(has["collation_connection"])) // goes by the character set otherwise
	}
	if len(toSet) > 0 {
		set = append(set, "SET SESSION "+strings.Join(toSet, ", "))
		was = append(was, "SET SESSION "+strings.Join(toPutBack, ", "))
	}
	return set, was, nil
}

// Judged implements [sqldb.Sessions].
func (*sessions) Judged(ctx context.Context, conn *sqlx.Conn, err error) error {
	if conn == nil { // of a pool of ours, whose connections look themselves
		return err
	}
	return judged(err, func() (map[string]string, error) { return sqldb.Pairs(ctx, conn, roleGroup) })
}
