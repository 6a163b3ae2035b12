package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"mergesafe/internal/sqldb"
)

// setting is a variable of a MySQL session that the code relies on.
type setting struct {
	name  string
	value string   // as it is set, quoted
	shown []string // as the server may tell it
}

func (s setting) equals(value string) bool {
	if s.name == "sql_mode" { // servers tell the modes in an order of their own
		have, want := strings.Split(value, ","), strings.Split(strictMode, ",")
		slices.Sort(have)
		slices.Sort(want)
		return slices.Equal(have, want)
	}
	return slices.ContainsFunc(s.shown, func(want string) bool { return strings.EqualFold(want, value) })
}

// What every session of a pool of ours has, whatever the server, the account or the DSN says: on
// both kinds of servers, on MySQL, and on MariaDB.
var (
	sessionSettings = []setting{
		{"autocommit", "1", []string{"ON", "1"}},
		{"completion_type", "0", []string{"NO_CHAIN", "0"}},
		{"foreign_key_checks", "1", []string{"ON", "1"}},
		{"unique_checks", "1", []string{"ON", "1"}},
		{"sql_safe_updates", "0", []string{"OFF", "0"}},
		{"sql_select_limit", "18446744073709551615", []string{"18446744073709551615"}},
		{"sql_big_selects", "1", []string{"ON", "1"}},
		{"time_zone", "'+00:00'", []string{"+00:00"}},
		// Refuse what does not fit, rather than store something else.
		{"sql_mode", "'" + strictMode + "'", []string{strictMode}},
		{"character_set_client", "utf8mb4", []string{"utf8mb4"}},
		{"character_set_connection", "utf8mb4", []string{"utf8mb4"}},
		{"character_set_results", "utf8mb4", []string{"utf8mb4"}},
	}
	mysqlSettings = []setting{
		{"transaction_isolation", "'REPEATABLE-READ'", []string{"REPEATABLE-READ"}},
		{"transaction_read_only", "0", []string{"OFF", "0"}},
		{"max_execution_time", "0", []string{"0"}},
	}
	mariadbSettings = []setting{
		{"tx_isolation", "'REPEATABLE-READ'", []string{"REPEATABLE-READ"}},
		{"tx_read_only", "0", []string{"OFF", "0"}},
		{"max_statement_time", "0", []string{"0", "0.000000"}},
	}
	// In a cluster, what another member has committed is read
	// (mariadb.com/kb/en/galera-cluster-system-variables, dev.mysql.com/doc/refman/8.4/en/group-replication-options.html).
	galeraSettings = []setting{
		{"wsrep_sync_wait", "15", []string{"15"}},
	}
	groupSettings = []setting{
		{"group_replication_consistency", "'BEFORE_AND_AFTER'", []string{"BEFORE_AND_AFTER"}},
	}
	allSettings = slices.Concat(sessionSettings, mysqlSettings, mariadbSettings, galeraSettings, groupSettings)
)

const strictMode = "STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// clusterVariables tell whether a server is in a cluster of one kind or the other, and which settings of it a session has.
// A server without one does not know the names. (SHOW VARIABLES is cut by sql_select_limit, and a table of variables is
// refused by max_join_size.)
var clusterVariables = []string{
	"SELECT 'wsrep_on' AS name, @@session.wsrep_on AS value UNION ALL SELECT 'wsrep_sync_wait', @@session.wsrep_sync_wait " +
		"/*M!100000 UNION ALL SELECT 'no_group', '1' */ LIMIT 10",
	"SELECT 'group_replication_group_name' AS name, @@global.group_replication_group_name AS value " +
		"UNION ALL SELECT 'group_replication_consistency', @@session.group_replication_consistency LIMIT 10",
}

// question is the query that reads what a session has. Which variables a server has in a cluster is asked once.
type question struct{ query atomic.Pointer[string] }

// of returns the query for a server; ask runs one of names and values there.
func (q *question) of(ask func(query string) (map[string]string, error)) (string, error) {
	if known := q.query.Load(); known != nil {
		return *known, nil
	}
	has := make(map[string]string)
	for _, query := range clusterVariables {
		some, err := ask(query)
		if err != nil && !sqldb.Says(err, sqldb.UnknownVariable) && !sqldb.Says(err, sqldb.Syntax) {
			return "", err
		}
		maps.Copy(has, some)
		if has["no_group"] != "" { // MariaDB has no such groups
			break
		}
	}
	var settings []setting
	if on := has["wsrep_on"]; on == "1" || strings.EqualFold(on, "ON") {
		settings = append(settings, galeraSettings...)
	}
	if has["group_replication_group_name"] != "" {
		settings = append(settings, groupSettings...)
	}
	columns := ""
	for _, s := range settings {
		if _, known := has[s.name]; known {
			columns += ", @@session." + s.name + " AS " + s.name
		}
	}
	query := showSettings + columns + " LIMIT 1"
	q.query.Store(&query)
	return query, nil
}

// showSettings reads what a session has, its collation, its database and its number. Comments tell the kinds of
// servers apart: MariaDB skips those of version 5.7 and later. (SHOW VARIABLES would do that, too, but
// it looks at all variables, and took a third of the server's time in tests that open many
// connections.) The limit holds whatever sql_select_limit is.
var showSettings = func() string {
	list := func(settings []setting) (columns string) {
		for _, s := range settings {
			columns += ", @@session." + s.name + " AS " + s.name
		}
		return columns
	}
	return "SELECT COALESCE(DATABASE(), '') AS selected, " + numbered("CONNECTION_ID()") + " AS numbered, @@session.collation_connection AS collation_connection" + list(sessionSettings) +
		" /*M!100000 " + list(mariadbSettings) + " */ /*!50720 " + list(mysqlSettings) + " */"
}()

// tellsSettings returns an error if a server does not tell what a session has.
func tellsSettings(has map[string]string) error {
	for i, s := range mysqlSettings[:2] {
		_, mysql := has[s.name]
		if _, mariadb := has[mariadbSettings[i].name]; !mysql && !mariadb {
			return fmt.Errorf("the server does not show %s, a session setting that this program relies on; does a proxy hide it?", s.name)
		}
	}
	return nil
}

// differing returns those settings of a session that are otherwise, as they are
// to be set, and as they were.
func differing(has map[string]string) (set, was []string) {
	for _, s := range allSettings {
		if value, known := has[s.name]; known && !s.equals(value) {
			set, was = append(set, s.name+" = "+s.value), append(was, s.name+" = "+literal(s.name, value))
		}
	}
	return set, was
}

// literal is a value that a variable had, as it is set again.
func literal(name, value string) string {
	if value == "" && name == "character_set_results" {
		return "NULL" // results come as they are stored
	}
	return quoteText(value)
}

// quoteText makes a literal of what the server said of a variable. Numbers are
// not texts to it.
func quoteText(value string) string {
	if value != "" && strings.Trim(value, "0123456789.") == "" {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// settle gives a new connection the settings, and makes sure that it has them and
// is in its database: init_connect may set and select others.
func settle(ctx context.Context, c *watchedConn, database string, q *question) error {
	query, err := q.of(func(query string) (map[string]string, error) { return readPairs(ctx, c, query) })
	if err != nil {
		return err
	}
	// Nearly every server has other values of these two. Whether this one took them is seen below.
	_, _ = c.ExecContext(ctx, "SET SESSION time_zone = '+00:00', sql_mode = '"+strictMode+"'", nil)
	for attempt := 0; ; attempt++ {
		has, err := readRow(ctx, c, query)
		if err != nil {
			return err
		}
		if err := tellsSettings(has); err != nil {
			return err
		}
		selected := has["selected"]
		set, was := differing(has)
		elsewhere := selected != database
		switch {
		case len(set) == 0 && (!elsewhere || attempt > 0 && strings.EqualFold(selected, database)): // as the server writes it
			c.number = has["numbered"]
			own.Store(c.number, nil)
			return nil
		case attempt > 0 && elsewhere:
			return fmt.Errorf("the session does not stay in its database: it is in %q, want %q; does a proxy change it?",
				selected, database)
		case attempt > 0:
			return fmt.Errorf("the session does not keep its settings: it has %s, want %s; does a proxy change them?", strings.Join(was, ", "), strings.Join(set, ", "))
		}
		if elsewhere {
			if _, err := c.ExecContext(ctx, "USE "+sqldb.MySQL.Quote(database), nil); err != nil {
				return fmt.Errorf("the session is in the database %q, want %q: %w", selected, database, err)
			}
		}
		if len(set) > 0 {
			if _, err := c.ExecContext(ctx, "SET SESSION "+strings.Join(set, ", "), nil); err != nil {
				return sqldb.CannotSet(was, set, err)
			}
		}
	}
}

// readPairs runs a query of names and values. The names come in small letters.
func readPairs(ctx context.Context, c driver.QueryerContext, query string) (map[string]string, error) {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	has := make(map[string]string)
	row := make([]driver.Value, 2)
	for {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				return has, nil
			}
			return nil, err
		}
		has[strings.ToLower(text(row[0]))] = text(row[1])
	}
}

// readRow runs a query of one row, and returns its columns by name. NULL is "".
func readRow(ctx context.Context, c driver.QueryerContext, query string) (map[string]string, error) {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return nil, err
	}
	has := make(map[string]string)
	for i, name := range rows.Columns() {
		has[name] = text(row[i])
	}
	return has, nil
}

func text(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

// fights returns an error if a parameter of a DSN sets one of the settings to
// something else. A pool that is read-only anyway may be told so.
func fights(dsn string, params map[string]string, readOnly bool) error {
	if _, query, ok := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?"); ok {
		values, _ := url.ParseQuery(query) // the driver has read it
		for _, key := range []string{"charset", "collation"} {
			for _, charset := range strings.Split(strings.Join(values[key], ","), ",") {
				if charset != "" && !strings.HasPrefix(strings.ToLower(charset), "utf8") {
					return fmt.Errorf("the DSN sets %s, but this program needs utf8mb4: remove it from the DSN", key)
				}
			}
		}
	}
	for key, value := range params {
		name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(key)), "@@")
		for _, scope := range []string{"session.", "local.", "session ", "local "} {
			name = strings.TrimSpace(strings.TrimPrefix(name, scope))
		}
		for _, s := range allSettings {
			if readOnly && strings.HasSuffix(s.name, "_read_only") {
				continue
			}
			if s.name == name && !s.equals(strings.Trim(value, "'\"")) {
				return fmt.Errorf("the DSN sets %s, but this program needs %s: remove it from the DSN", name, s.value)
			}
		}
	}
	return nil
}

// wish is a setting of a merge's connection that some servers know, with the comment that only these read.
type wish struct{ comment, setting string }

func (w wish) inComment() string { return " /*" + w.comment + " , " + w.setting + " */" }

var wishes = []wish{
	{"M!100101", "max_statement_time = 0"},
	{"M!100300", "idle_transaction_timeout = 0"},
	{"M!100300", "idle_readonly_transaction_timeout = 0"},
	{"M!100300", "idle_write_transaction_timeout = 0"},
	{"!50720", "max_execution_time = 0"},
	{"!80003", "information_schema_stats_expiry = 0"}, // counters of now, not of yesterday
	// A key that the server made is seen, or its rows would get other keys
	// (dev.mysql.com/doc/refman/8.4/en/create-table-gipks.html).
	{"!80030", "show_gipk_in_create_table_and_information_schema = 1"},
}

// ownEngine has a table of MariaDB have the engine that it names. An account that may not set it can still read and
// write rows.
var ownEngine = wish{"M!100101", "enforce_storage_engine = NULL"}

// Prepare has a connection read or write rows for a merge: see [sqldb.Dialect.Prepare].
func (engine) Prepare(ctx context.Context, conn *sql.Conn, p sqldb.Purpose) error {
	if p == sqldb.WriteRows || p == sqldb.WriteUnchecked { // a batch needs no more, and takes fewer locks
		if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
			return err
		}
	}
	needed := settings(p)
	all := needed
	for _, w := range wishes {
		all += w.inComment()
	}
	_, err := conn.ExecContext(ctx, all+ownEngine.inComment())
	if sqldb.IsDenied(err) {
		_, err = conn.ExecContext(ctx, all)
	}
	if !sqldb.Says(err, sqldb.UnknownVariable) {
		return err
	}
	// The server reads comments in its own way: each by itself.
	_, err = conn.ExecContext(ctx, needed)
	for _, w := range slices.Concat(wishes, []wish{ownEngine}) {
		if err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, "SET SESSION "+w.setting)
		if sqldb.Says(err, sqldb.UnknownVariable) || w == ownEngine && sqldb.IsDenied(err) {
			err = nil
		}
	}
	return err
}

// settings returns the statement that gives a connection what every server knows.
func settings(p sqldb.Purpose) string {
	// MySQL stores conditions and partitions of a table that is altered as it prints them.
	const unlimited = "SET SESSION sql_quote_show_create = 1, sql_select_limit = 18446744073709551615, sql_big_selects = 1, " +
		"wait_timeout = 86400, net_write_timeout = 86400, "
	// A key has at most 3072 bytes, and is sorted by 1024 where no index is read. For more, MySQL can lack memory.
	// Warnings tell that a value was changed on its way, notes that digits behind a point are rounded, as a generated
	// column of that type asks for.
	const asTheyAre = unlimited + "max_sort_length = 4096, sql_notes = 0, " +
		"sql_mode = 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION'"
	const writing = asTheyAre + ", unique_checks = 1, foreign_key_checks = "
	switch p {
	case sqldb.ReadSorted:
		return unlimited + "sql_mode = '', max_sort_length = 65536"
	case sqldb.WriteRows:
		return writing + "1"
	case sqldb.WriteUnchecked:
		return writing + "0"
	}
	return asTheyAre
}

// Snapshot returns the statements of [sqldb.Dialect.BeginSnapshot].
func (engine) Snapshot(snapshot bool) []string {
	if !snapshot {
		return []string{"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"}
	}
	return []string{"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"}
}
