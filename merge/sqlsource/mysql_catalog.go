package sqlsource

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"mergesafe/merge"
)

// A table may be sorted by texts of textLimit characters at most, and by
// strings of rawLimit bytes. Keys can hardly be longer: InnoDB's limit is
// 3072 bytes. The server sorts by the first max_sort_length bytes only.
const (
	textLimit = 1024
	rawLimit  = 3072
)

const (
	mysqlAbout = `SELECT VERSION(), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000`

	mysqlTables = `SELECT t.TABLE_NAME, t.TABLE_TYPE, COALESCE(t.ENGINE, ''), COALESCE(e.TRANSACTIONS, '')
		FROM information_schema.TABLES AS t LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
		WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW')`

	mysqlColumns = `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE = 'YES',
			COALESCE(COLLATION_NAME, ''), COALESCE(CHARACTER_SET_NAME, ''), COALESCE(CHARACTER_MAXIMUM_LENGTH, 0)
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`

	mysqlIndexes = `SELECT TABLE_NAME, INDEX_NAME, COALESCE(COLUMN_NAME, ''), COALESCE(SUB_PART, 0)
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0
		ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

	// REFERENTIAL_CONSTRAINTS and TABLE_CONSTRAINTS are empty to who may only
	// SELECT. This one is not.
	mysqlReferences = `SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME,
			REFERENCED_TABLE_SCHEMA = DATABASE(), REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
		FROM information_schema.KEY_COLUMN_USAGE
		WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL
		ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`
)

func (d *mysqlDialect) describe(ctx context.Context, conn *sql.Conn) (*schema, error) {
	b := newBuilder()
	var now int64
	if err := conn.QueryRowContext(ctx, mysqlAbout).Scan(&b.EngineVersion, &now); err != nil {
		return nil, err
	}
	b.Now = time.UnixMilli(now).UTC()
	b.Engine = "mysql"
	if strings.Contains(b.EngineVersion, "MariaDB") {
		b.Engine = "mariadb"
	}
	for _, read := range []func(context.Context, *sql.Conn, *builder) error{
		mysqlReadTables, mysqlReadColumns, mysqlReadIndexes, mysqlReadReferences, describeStore,
	} {
		if err := read(ctx, conn, b); err != nil {
			return nil, err
		}
	}
	return b.finish(), nil
}

func mysqlReadTables(ctx context.Context, conn *sql.Conn, b *builder) error {
	var name, kind, engine, transactions string
	return each(ctx, conn, mysqlTables, func() {
		switch {
		case kind != "BASE TABLE":
			b.skip(name, strings.ToLower(kind)+": what it holds beyond its current rows is not read")
		case engine == "":
			b.skip(name, "the server cannot open it")
		case transactions != "YES":
			b.skip(name, engine+": not part of the snapshot")
		default:
			b.table(name)
		}
	}, &name, &kind, &engine, &transactions)
}

func mysqlReadColumns(ctx context.Context, conn *sql.Conn, b *builder) error {
	var (
		table, dataType string
		length          int64
		c               column
	)
	return each(ctx, conn, mysqlColumns, func() {
		mysqlKind(&c, strings.ToLower(dataType), length)
		b.column(table, c)
	}, &table, &c.Name, &c.Type, &dataType, &c.Nullable, &c.Collation, &c.charset, &length)
}

// mysqlKind says what the values of a column are. length is that of strings.
func mysqlKind(c *column, dataType string, length int64) {
	c.kind, c.why, c.IsID, c.Opaque = other, "", false, ""
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		c.kind = integer
	case "binary", "varbinary":
		c.kind = raw
		c.IsID = strings.EqualFold(c.Type, "binary(10)")
	case "tinyblob", "blob", "mediumblob", "longblob":
		c.kind = raw
		c.Opaque = strings.ToUpper(dataType)
	case "bit", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection", "vector":
		c.kind = raw
		c.why = cannotCompare(c)
	case "char", "varchar":
		c.kind = text
	case "tinytext", "text", "mediumtext", "longtext":
		c.kind = text
		c.Opaque = strings.ToUpper(dataType)
	case "date", "datetime", "timestamp":
		c.kind = moment
	case "json":
		c.Opaque = "JSON"
		c.why = cannotCompare(c)
	default:
		c.why = cannotCompare(c)
	}
	switch {
	case c.why != "":
	case c.kind == text && length > textLimit:
		c.why = fmt.Sprintf("texts of up to %d characters are too long to be sorted in full", length)
	case c.kind == raw && length > rawLimit:
		c.why = fmt.Sprintf("values of up to %d bytes are too long to be sorted in full", length)
	}
}

func cannotCompare(c *column) string {
	return fmt.Sprintf("values of type %s cannot be compared yet", c.Type)
}

func mysqlReadIndexes(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, index, column string
	var prefix int
	return each(ctx, conn, mysqlIndexes, func() {
		unclear := ""
		switch {
		case column == "":
			unclear = "it covers an expression"
		case prefix > 0:
			unclear = fmt.Sprintf("it covers only the first %d characters of %s", prefix, column)
		}
		b.index(table, index, index == "PRIMARY", column, unclear)
	}, &table, &index, &column, &prefix)
}

func mysqlReadReferences(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, name, column, toSchema, toTable, toColumn string
	var here bool
	return each(ctx, conn, mysqlReferences, func() {
		if !here {
			toTable = toSchema + "." + toTable
		}
		b.reference(table, merge.Reference{Name: name, ToTable: toTable}, column, toColumn)
	}, &table, &name, &column, &here, &toSchema, &toTable, &toColumn)
}

// each runs a query, scans every row into dest and calls take.
func each(ctx context.Context, conn *sql.Conn, query string, take func(), dest ...any) error {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		take()
	}
	return rows.Err()
}
