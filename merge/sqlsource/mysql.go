package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mysqlDialect reads MariaDB, MySQL, and what speaks like them.
type mysqlDialect struct {
	weights map[string]*weight // by collation, nil where there is none
}

func newMySQL() *mysqlDialect { return &mysqlDialect{weights: make(map[string]*weight)} }

// mysqlSession makes the session independent of how the server or the account
// is set up: rows must not be left out (sql_select_limit), statements not be
// refused for being large, dates of zero be dates like others (sql_mode),
// texts be sorted by all of their weights, and a stream that waits while other
// databases are read must not be cut off.
const mysqlSession = `SET SESSION
	sql_select_limit = 18446744073709551615,
	sql_big_selects = 1,
	sql_mode = '',
	max_sort_length = 65536,
	net_write_timeout = 86400,
	wait_timeout = 86400`

const (
	mysqlIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
	mysqlSnapshot  = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"

	// mysqlCommitted lets every statement see what is committed when it begins.
	mysqlCommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"

	mysqlRunning = "SHOW GLOBAL STATUS LIKE 'Threads_running'"

	// mysqlProbe asks for a table that does not exist. Who may read every
	// table is told so; who may read some tables only, and therefore sees only
	// those in the catalogue, is told that he may not read this one.
	mysqlProbe = "SELECT 1 FROM `mergesafe: may every table be read?` LIMIT 1"
)

// Numbers of server errors.
const (
	errTableDenied     = 1142
	errColumnDenied    = 1143
	errSyntax          = 1064
	errNoTable         = 1146
	errUnknownVariable = 1193
	errCharset         = 1115 // unknown character set
	errCollation       = 1273 // unknown collation
	errCollationFor    = 1253 // collation is not one of the character set
	errCollationMix    = 1267 // two collations, and none is the stronger
)

func mysqlError(err error, numbers ...uint16) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	for _, n := range numbers {
		if e.Number == n {
			return true
		}
	}
	return false
}

func (d *mysqlDialect) load(ctx context.Context, pool *sql.DB) (n int, err error) {
	var name string
	err = pool.QueryRowContext(ctx, mysqlRunning).Scan(&name, &n)
	return n, err
}

func (d *mysqlDialect) begin(ctx context.Context, conn *sql.Conn, snapshot bool) error {
	exec := func(statement string) error {
		_, err := conn.ExecContext(ctx, statement)
		return err
	}
	if err := exec(mysqlSession); err != nil {
		return err
	}
	for _, limit := range []string{ // of which each server knows some only
		"max_statement_time",                // MariaDB
		"idle_transaction_timeout",          // MariaDB
		"idle_readonly_transaction_timeout", // MariaDB
		"max_execution_time",                // MySQL
		"information_schema_stats_expiry",   // MySQL: counters of now, not of yesterday
	} {
		if err := exec("SET SESSION " + limit + " = 0"); err != nil && !mysqlError(err, errUnknownVariable) {
			return err
		}
	}
	if err := exec(mysqlIsolation); err != nil {
		return err
	}
	if err := mayReadAll(ctx, conn); err != nil {
		return err
	}
	if !snapshot {
		return exec(mysqlCommitted)
	}
	return exec(mysqlSnapshot)
}

// mayReadAll returns an error if the account may not read every table of the
// database: those that it may not read would be missing from the catalogue,
// and so from the check, without a trace.
func mayReadAll(ctx context.Context, conn *sql.Conn) error {
	var one int
	err := conn.QueryRowContext(ctx, mysqlProbe).Scan(&one)
	switch {
	case mysqlError(err, errNoTable):
		return nil
	case mysqlError(err, errTableDenied, errColumnDenied):
		var database, account string
		if err := conn.QueryRowContext(ctx, "SELECT DATABASE(), CURRENT_USER()").Scan(&database, &account); err != nil {
			return err
		}
		return fmt.Errorf("the account may not read every table, and would overlook some: it needs %s", Grant(database, account))
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return errors.New("the table that must not exist is there")
	default:
		return err
	}
}

// Grant is the statement that gives an account, such as CURRENT_USER() names
// it, all that reading a database takes.
func Grant(database, account string) string {
	user, host, ok := cutLast(account, "@")
	if !ok {
		host = "%"
	}
	// In GRANT, unlike elsewhere, _ and % in the name of a database are wildcards.
	database = strings.NewReplacer("`", "``", "_", `\_`, "%", `\%`).Replace(database)
	quote := strings.NewReplacer("'", "''")
	return fmt.Sprintf("GRANT SELECT ON `%s`.* TO '%s'@'%s'", database, quote.Replace(user), quote.Replace(host))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (d *mysqlDialect) unchanged() error { return nil }

func (d *mysqlDialect) quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func (d *mysqlDialect) unsupported(err error) bool {
	return mysqlError(err, errCharset, errCollation, errCollationFor, errCollationMix)
}

func (d *mysqlDialect) sorted(ctx context.Context, conn *sql.Conn, c *column, collation string) (reading, error) {
	if c.why != "" {
		return reading{}, unsupported(c, "%s", c.why)
	}
	ref := d.ref(c)
	switch c.kind {
	case integer:
		return reading{expr: d.number(c), order: ref, encode: encodeInteger}, nil
	case real:
		return reading{expr: d.number(c), order: ref, encode: encodeReal}, nil
	case decimal:
		return reading{expr: ref, encode: encodeDecimal}, nil
	case duration:
		return reading{expr: ref, encode: encodeDuration}, nil
	case moment:
		r := d.carried(c)
		r.order = ref // sorts alike, and may have an index
		return r, nil
	case address:
		// The server sorts a UUID by its parts in an order of their own, so by the bytes themselves.
		return reading{expr: fmt.Sprintf("CAST(%s AS BINARY(16))", ref), encode: encodeRaw}, nil
	case text:
		return d.weightString(ctx, conn, c, collation)
	default:
		return d.carried(c), nil
	}
}

func (d *mysqlDialect) carried(c *column) reading {
	switch c.kind {
	case raw:
		return reading{expr: d.ref(c), encode: encodeRaw, plain: true}
	case text, decimal, duration, address:
		return reading{expr: d.ref(c), encode: encodeText, plain: true}
	case integer:
		return reading{expr: d.number(c), encode: encodeDigits}
	case real:
		return reading{expr: d.number(c), encode: encodeRealText}
	case moment:
		// One form for all dates, with and without a time of day, and whatever
		// their precision.
		return reading{expr: "DATE_FORMAT(" + d.ref(c) + ", '%Y-%m-%d %H:%i:%s.%f')", encode: encodeText, plain: true}
	default:
		return reading{expr: d.asText(c), encode: encodeText, plain: true}
	}
}

// number is how a column is read as a number.
func (d *mysqlDialect) number(c *column) string {
	switch {
	case c.kind == real:
		// Alone, a FLOAT is printed in 6 digits, and with declared digits in
		// these. As part of a sum it is a DOUBLE, and printed in full.
		return d.ref(c) + " + 0e0"
	case c.bits:
		return "CAST(" + d.ref(c) + " AS UNSIGNED)"
	default:
		return d.ref(c)
	}
}

func (d *mysqlDialect) match(c *column, value []byte) (string, []any, error) {
	ref := d.ref(c)
	switch c.kind {
	case raw:
		return ref + " = ?", []any{value}, nil
	case integer:
		n, err := parseDigits(value)
		return ref + " = ?", []any{n}, err
	case real:
		f, err := strconv.ParseFloat(string(value), 64)
		return ref + " = ?", []any{f}, err
	case decimal:
		// As an argument it would be a text, and be compared as a DOUBLE.
		if strings.Trim(string(value), "-.0123456789") != "" {
			return "", nil, &mismatch{decimal, value}
		}
		return ref + " = " + string(value), nil, nil
	case text, moment, duration, address:
		return ref + " = ?", []any{string(value)}, nil
	default:
		return d.asText(c) + " = ?", []any{string(value)}, nil
	}
}

func (d *mysqlDialect) shown(c *column) (value, length string) {
	ref := d.ref(c)
	switch {
	case c.IsID:
		return "LOWER(HEX(" + ref + "))", "LENGTH(" + ref + ")"
	case c.bits && strings.HasPrefix(strings.ToLower(c.Type), "bit"):
		return d.number(c), "0"
	case c.kind == raw:
		return fmt.Sprintf("CONCAT('0x', LOWER(HEX(LEFT(%s, %d))))", ref, shownLength), "LENGTH(" + ref + ")"
	default:
		return fmt.Sprintf("LEFT(%s, %d)", d.asText(c), shownLength), "CHAR_LENGTH(" + d.asText(c) + ")"
	}
}

func (d *mysqlDialect) ref(c *column) string { return "r." + d.quote(c.Name) }

// asText is the column as its text in utf8mb4.
func (d *mysqlDialect) asText(c *column) string { return "CONVERT(" + d.ref(c) + " USING utf8mb4)" }
