// Package mysql is the dialect of MySQL, MariaDB and all that speaks their protocol, and links its driver.
package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
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

	Backend: "SELECT CONNECTION_ID(), " + thisServer + ", @@max_allowed_packet",
	Server:  "SELECT " + thisServer,
	Kill:    "KILL %d",

	// By default, whoever reads or alters a table that another one has locked, or alters one that another one reads, such
	// as a backup, waits a day or a year, without a word.
	Bounds: "SET SESSION lock_wait_timeout = CAST(LEAST(@@SESSION.lock_wait_timeout, 10) AS UNSIGNED), " +
		"innodb_lock_wait_timeout = CAST(LEAST(@@SESSION.innodb_lock_wait_timeout, 10) AS UNSIGNED)",

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
		"so a commit begins another transaction or closes the connection: "+
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

// durability is what decides whether a MySQL server keeps what it confirms.
const durability = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
	'innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin', 'innodb_flush_method', 'innodb_doublewrite', 'wsrep_on')`

// redoLog tells of a server that writes no redo log (ALTER INSTANCE DISABLE INNODB
// REDO_LOG). Only MySQL, from 8.0.21 on, can be told so, and has this.
const redoLog = `SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_enabled'`

// copies is how many members of a cluster have a transaction before it is
// confirmed.
const copies = `SHOW GLOBAL STATUS WHERE Variable_name = 'wsrep_cluster_size'`

const groupMembers = `SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'`

// Durability implements [sqldb.Engine].
//
// A cluster that replicates a transaction to another member before it confirms
// it (Galera, Group Replication) keeps it when one of them fails. There the
// settings of one server are worth a warning only, while it has two members.
func (engine) Durability(ctx context.Context, s *sqldb.Session) ([]sqldb.Lossy, error) {
	has := make(map[string]string)
	for _, query := range []string{durability, redoLog} {
		var rows []struct {
			Name  string `db:"Variable_name"`
			Value string `db:"Value"`
		}
		if err := s.Select(ctx, &rows, query); err != nil {
			return nil, err
		}
		for _, row := range rows {
			has[strings.ToLower(row.Name)] = strings.ToLower(row.Value)
		}
	}
	alone := !replicates(ctx, s, has["wsrep_on"] == "on")
	var found []sqldb.Lossy
	add := func(variable, risk, fix string, serious bool) {
		found = append(found, sqldb.Lossy{Variable: variable, Value: has[strings.ToLower(variable)], Risk: risk, Fix: fix, Serious: serious && alone})
	}
	switch has["innodb_flush_log_at_trx_commit"] {
	case "0":
		add("innodb_flush_log_at_trx_commit", "if the database server ends without a shutdown, it loses commits of the last second",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1", true)
	case "2":
		add("innodb_flush_log_at_trx_commit", "if the machine of the database loses power, commits of the last second are lost",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1", true)
	}
	if has["innodb_redo_log_enabled"] == "off" {
		add("Innodb_redo_log_enabled",
			"if the database server ends without a shutdown, it does not start again, and all its data is lost",
			"ALTER INSTANCE ENABLE INNODB REDO_LOG", true)
	}
	if method := has["innodb_flush_method"]; strings.Contains(method, "nosync") {
		add("innodb_flush_method", "if the machine of the database loses power, commits are lost, or its files are damaged",
			"set innodb_flush_method = fsync in the server's configuration, and restart it", true)
	}
	if off := has["innodb_doublewrite"]; off == "off" || off == "0" || off == "detect_only" {
		add("innodb_doublewrite", "if the machine of the database loses power, half-written pages are lost",
			"set innodb_doublewrite = ON in the server's configuration, and restart it", true)
	}
	if sync, logs := has["sync_binlog"], has["log_bin"]; (logs == "on" || logs == "1") && sync != "1" {
		add("sync_binlog", "if the machine of the database loses power, replicas and the binary log may lack the last commits",
			"SET GLOBAL sync_binlog = 1", false)
	}
	return found, nil
}

// replicates reports whether at least two members of a cluster have a
// transaction before it is confirmed.
func replicates(ctx context.Context, s *sqldb.Session, galera bool) bool {
	var members int
	if galera {
		var row struct {
			Name    string `db:"Variable_name"`
			Members int    `db:"Value"`
		}
		return s.Get(ctx, &row, copies) == nil && row.Members >= 2
	}
	// MariaDB has no such table, and an account may not see it.
	return s.Get(ctx, &members, groupMembers) == nil && members >= 2
}

var offers atomic.Int64

// Offer gives what LOAD DATA LOCAL INFILE reads a name, until done is called. The driver asks
// for no file but those that are offered so.
func Offer(r io.Reader) (name string, done func()) {
	key := "mergesafe-" + strconv.FormatInt(offers.Add(1), 10)
	mysql.RegisterReaderHandler(key, func() io.Reader { return r })
	return "Reader::" + key, func() { mysql.DeregisterReaderHandler(key) }
}
