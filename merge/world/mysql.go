package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// mysqlDialect reads MariaDB, MySQL, and what speaks like them.
type mysqlDialect struct {
	sqldb.Dialect
	weights map[string]*weight // by collation, nil where there is none
}

func newMySQL() *mysqlDialect {
	return &mysqlDialect{Dialect: sqldb.MySQL, weights: make(map[string]*weight)}
}

const (
	mysqlRunning = "SHOW GLOBAL STATUS LIKE 'Threads_running'"

	// mysqlProbe asks for a table that does not exist. Who may read every
	// table is told so; who may read some tables only, and therefore sees only
	// those in the catalogue, is told that he may not read this one.
	mysqlProbe = "SELECT 1 FROM `mergesafe: may every table be read?` LIMIT 1"
)

func (d *mysqlDialect) load(ctx context.Context, pool *sql.DB) (n int, err error) {
	var name string
	err = pool.QueryRowContext(ctx, mysqlRunning).Scan(&name, &n)
	return n, err
}

func (d *mysqlDialect) begin(ctx context.Context, conn *sql.Conn, snapshot bool) error {
	if err := d.Prepare(ctx, conn, sqldb.ReadSorted); err != nil {
		return err
	}
	if err := mayReadAll(ctx, conn); err != nil {
		return err
	}
	if snapshot { // without one, only the load of the server is asked
		if err := mysqlOpenCounted(ctx, conn); err != nil {
			return err
		}
	}
	return d.BeginSnapshot(ctx, conn, snapshot)
}

// mayReadAll returns an error if the account may not read every table of the
// database: those that it may not read would be missing from the catalogue,
// and so from the check, without a trace.
func mayReadAll(ctx context.Context, conn *sql.Conn) error {
	var one int
	err := conn.QueryRowContext(ctx, mysqlProbe).Scan(&one)
	switch {
	case sqldb.Says(err, sqldb.NoTable):
		return nil
	case sqldb.IsDenied(err):
		var database, account string
		if err := conn.QueryRowContext(ctx, "SELECT DATABASE(), CURRENT_USER()").Scan(&database, &account); err != nil {
			return err
		}
		literal, err := literalNames(ctx, conn)
		if err != nil {
			return err
		}
		return fmt.Errorf("the account cannot read every table, so some would be overlooked: it needs %s", Grant("SELECT", database, account, literal))
	case err == nil, errors.Is(err, sql.ErrNoRows):
		return errors.New("the table that must not exist is there")
	default:
		return err
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (d *mysqlDialect) unchanged() error { return nil }

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

func (d *mysqlDialect) warnings(ctx context.Context, conn *sql.Conn) (all []string, err error) {
	rows, err := conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var level, message string
		var code int
		if err := rows.Scan(&level, &code, &message); err != nil {
			return nil, err
		}
		if level != "Note" {
			all = append(all, fmt.Sprintf("%s %d: %s", level, code, message))
		}
	}
	return all, rows.Err()
}

func (d *mysqlDialect) prepares(c *column) bool { return c.kind != duration && c.kind != address }

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
		if c.alone { // of a SET, MariaDB has a number with a sign here, and MySQL one of 53 bits
			ref = d.number(c)
		}
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
		if c.kind == moment && !hasDay(string(value)) { // as with ALLOW_INVALID_DATES: MySQL takes it for no date
			return "? LIKE CONCAT(" + d.asText(c) + ", '%')", []any{string(value)}, nil
		}
		return ref + " = ?", []any{string(value)}, nil
	default:
		return d.asText(c) + " = ?", []any{string(value)}, nil
	}
}

// hasDay reports whether a moment begins with a day of the calendar.
func hasDay(moment string) bool {
	day, _, _ := strings.Cut(moment, " ")
	_, err := time.Parse(time.DateOnly, day)
	return err == nil
}

func (d *mysqlDialect) shown(c *column) (value, length string) {
	ref := d.ref(c)
	switch {
	case c.IsID:
		return "LOWER(HEX(" + ref + "))", "LENGTH(" + ref + ")"
	case c.bits && strings.HasPrefix(strings.ToLower(c.Type), "bit"):
		return d.number(c), "0"
	case c.kind == raw && strings.HasPrefix(strings.ToLower(c.Type), "vector"): // LEFT refuses it: Error 1210
		return fmt.Sprintf("CONCAT('0x', LOWER(LEFT(HEX(%s), %d)))", ref, 2*shownLength), "LENGTH(" + ref + ")"
	case c.kind == raw:
		return fmt.Sprintf("CONCAT('0x', LOWER(HEX(LEFT(%s, %d))))", ref, shownLength), "LENGTH(" + ref + ")"
	default:
		return fmt.Sprintf("LEFT(%s, %d)", d.asText(c), shownLength), "CHAR_LENGTH(" + d.asText(c) + ")"
	}
}

func (d *mysqlDialect) ref(c *column) string { return "r." + d.Quote(c.Name) }

// asText is the column as its text in utf8mb4.
func (d *mysqlDialect) asText(c *column) string { return "CONVERT(" + d.ref(c) + " USING utf8mb4)" }
