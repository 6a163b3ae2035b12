package world

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"mergesafe/internal/sqldb"
)

// sqliteDialect reads SQLite. check is what unchanged returns.
type sqliteDialect struct {
	sqldb.Dialect
	check func() error
}

func (d sqliteDialect) unchanged() error { return d.check() }

func (d sqliteDialect) load(context.Context, *sql.DB) (int, error) { return 0, nil }

func (d sqliteDialect) begin(ctx context.Context, conn *sql.Conn, snapshot bool) error {
	if err := d.Prepare(ctx, conn, sqldb.ReadSorted); err != nil {
		return err
	}
	return d.BeginSnapshot(ctx, conn, snapshot)
}

func (d sqliteDialect) sorted(_ context.Context, _ *sql.Conn, c *column, collation string) (reading, error) {
	if c.why != "" {
		return reading{}, unsupported(c, "%s", c.why)
	}
	switch c.kind {
	case raw:
		return d.carried(c), nil
	case integer:
		return reading{expr: d.ref(c), encode: encodeInteger}, nil
	case real:
		return reading{expr: d.ref(c), encode: encodeReal}, nil
	case anything:
		// With the sign the driver does not know the type that was declared,
		// and makes no times of what it takes for such.
		return reading{expr: "+" + d.ref(c), order: d.ref(c), encode: encodeAnything}, nil
	case text:
		encode := sqliteText(collation)
		if encode == nil {
			return reading{}, unsupported(c, "the collation %s is not built into SQLite", collation)
		}
		return reading{expr: d.ref(c), order: d.ref(c) + " COLLATE " + collation, encode: encode}, nil
	default:
		return reading{}, unsupported(c, "its values cannot be compared")
	}
}

func (d sqliteDialect) carried(c *column) reading {
	switch c.kind {
	case raw:
		return reading{expr: d.ref(c), encode: encodeRaw, plain: true}
	case integer:
		return reading{expr: d.ref(c), encode: encodeDigits}
	case real:
		return reading{expr: d.ref(c), encode: encodeRealText}
	case text:
		return reading{expr: d.ref(c), encode: encodeText}
	default:
		return reading{expr: d.literal(c), encode: encodeText}
	}
}

func (sqliteDialect) warnings(context.Context, *sql.Conn) ([]string, error) { return nil, nil } // it has errors alone

func (sqliteDialect) prepares(*column) bool { return false } // it would prepare once more

func (d sqliteDialect) match(c *column, value []byte) (string, []any, error) {
	switch c.kind {
	case raw:
		return d.ref(c) + " = ?", []any{value}, nil
	case integer:
		n, err := parseDigits(value)
		return d.ref(c) + " = ?", []any{n}, err
	case real:
		f, err := strconv.ParseFloat(string(value), 64)
		return d.ref(c) + " = ?", []any{f}, err
	case text: // a blob stays one there, and is no text
		return d.ref(c) + " IN (?, CAST(? AS BLOB))", []any{string(value), string(value)}, nil
	default:
		return d.literal(c) + " = ?", []any{string(value)}, nil
	}
}

func (d sqliteDialect) shown(c *column) (value, length string) {
	ref, prefix := d.ref(c), "0x"
	if c.IsID {
		prefix = ""
	}
	return fmt.Sprintf("CASE typeof(%s) WHEN 'blob' THEN '%s' || lower(hex(substr(%[1]s, 1, %[3]d))) ELSE substr(%[4]s, 1, %[3]d) END",
		ref, prefix, shownLength, d.asText(c)), "length(" + ref + ")"
}

// takes says nothing: SQLite keeps every value in every column.
func (d sqliteDialect) takes(*column) string { return "" }

func (d sqliteDialect) ref(c *column) string { return "r." + d.Quote(c.Name) }

// literal is a value as a statement would have it, which tells 1 from '1'.
func (d sqliteDialect) literal(c *column) string {
	return "iif(" + d.ref(c) + " IS NULL, NULL, quote(" + d.ref(c) + "))"
}

func (d sqliteDialect) asText(c *column) string { return "CAST(" + d.ref(c) + " AS TEXT)" }
