package world

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql"
	"mergesafe/merge/catalog"
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

	mysqlTables = `SELECT t.TABLE_NAME, t.TABLE_TYPE, COALESCE(t.ENGINE, ''), COALESCE(e.TRANSACTIONS, ''), COALESCE(t.AUTO_INCREMENT, 0), COALESCE(t.TABLE_ROWS, 0)
		FROM information_schema.TABLES AS t LEFT JOIN information_schema.ENGINES AS e ON e.ENGINE = t.ENGINE
		WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE <> 'SYSTEM VIEW'`

	mysqlCounted = `SELECT TABLE_NAME FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA = DATABASE() AND EXTRA LIKE '%auto_increment%' AND VERSION() NOT LIKE '%MariaDB%'`

	mysqlColumns = `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, IS_NULLABLE = 'YES',
			COALESCE(COLLATION_NAME, ''), COALESCE(CHARACTER_SET_NAME, ''), COALESCE(CHARACTER_MAXIMUM_LENGTH, 0),
			COLUMN_DEFAULT, COALESCE(GENERATION_EXPRESSION, ''), EXTRA
		FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`

	// In the place of {expression} stands what MySQL 8 tells of an index on one.
	mysqlIndexes = `SELECT TABLE_NAME, INDEX_NAME, COALESCE(COLUMN_NAME, ''), COALESCE(SUB_PART, 0), {expression}
		FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0
		ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

	mysqlTellsExpressions = `SELECT COUNT(*) FROM information_schema.COLUMNS
		WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'STATISTICS' AND COLUMN_NAME = 'EXPRESSION'`

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
		mysqlReadTables, mysqlReadSequences, mysqlReadColumns, mysqlReadCounters, mysqlReadIndexes, mysqlReadReferences,
		mysqlReadStatements, mysqlReadPartitions, mysqlReadHidden, mysqlReadDatabase, mysqlReadServer, describeStore,
	} {
		if err := read(ctx, conn, b); err != nil {
			return nil, err
		}
	}
	return b.finish(), nil
}

// mysqlOpenCounted opens the tables that have a counter, before the counters are read. If the last INSERT had the next
// number as an explicit key and failed, MySQL counts on only when the table is opened once more. A later reader would do
// that, and the counter would seem to have moved since. Each table is named twice: one that another session left open is
// used again, and does not count as opened. In the snapshot, an ALTER TABLE of the game would wait for all of them.
func mysqlOpenCounted(ctx context.Context, conn *sql.Conn) error {
	var name string
	var all []string
	if err := each(ctx, conn, mysqlCounted, func() { all = append(all, sqldb.MySQL.Quote(name)) }, &name); err != nil {
		return err
	}
	for _, t := range all {
		// A table that cannot be opened fails where it is read.
		_, _ = conn.ExecContext(ctx, "SELECT 1 FROM "+t+" AS a, "+t+" AS b LIMIT 0")
	}
	return ctx.Err()
}

func mysqlReadTables(ctx context.Context, conn *sql.Conn, b *builder) error {
	var (
		name, kind, engine, transactions string
		next                             uint64
		about                            int64
	)
	return listed(ctx, conn, mysqlTables, func() {
		switch {
		case kind == "VIEW":
			b.view(name)
		case kind == "SEQUENCE":
			b.skip(name, "sequence: what it holds beyond its current rows is not read")
			b.sequences = append(b.sequences, name)
		case kind != "BASE TABLE":
			b.skip(name, strings.ToLower(kind)+": what it holds beyond its current rows is not read")
		case engine == "":
			b.skip(name, "the server cannot open it")
		case transactions != "YES" && !slices.Contains(mysqlOutside, engine):
			b.skip(name, engine+": not part of the snapshot")
		default:
			b.table(name)
			t := b.tables[name]
			t.Engine, b.About[name] = engine, about
			if transactions != "YES" {
				t.Outside = engine + ": not part of the snapshot"
			}
			if next > 0 {
				t.AutoIncrement = &catalog.AutoIncrement{Next: next} // readColumns says of which
			}
		}
	}, &name, &kind, &engine, &transactions, &next, &about)
}

// mysqlReadSequences reads where the sequences of MariaDB stand.
func mysqlReadSequences(ctx context.Context, conn *sql.Conn, b *builder) error {
	for _, name := range b.sequences {
		s, next, most := catalog.Sequence{Name: name}, "", ""
		err := conn.QueryRowContext(ctx, "SELECT next_not_cached_value, maximum_value, increment, cycle_option FROM "+sqldb.MySQL.Quote(s.Name)).Scan(&next, &most, &s.Increment, &s.Cycle)
		if sqldb.IsDenied(err) {
			continue // it stays one that is not read
		}
		if err != nil {
			return fmt.Errorf("sequence %q: %w", s.Name, err)
		}
		if err := errors.Join(s.Next.UnmarshalText([]byte(next)), s.Max.UnmarshalText([]byte(most))); err != nil {
			return fmt.Errorf("sequence %q: %w", s.Name, err)
		}
		b.Sequences = append(b.Sequences, s)
	}
	return nil
}

func mysqlReadColumns(ctx context.Context, conn *sql.Conn, b *builder) error {
	var (
		table, extra string
		c            column
		standard     sql.NullString
		d            = newMySQL()
		own          string // how a sequence of this database begins in a DEFAULT
	)
	if len(b.Sequences) > 0 {
		if err := conn.QueryRowContext(ctx, "SELECT CONCAT('`', REPLACE(DATABASE(), '`', '``'), '`.`')").Scan(&own); err != nil {
			return err
		}
	}
	err := listed(ctx, conn, mysqlColumns, func() {
		c.dataType = strings.ToLower(c.dataType)
		mysqlKind(&c)
		c.Default = nil
		// MariaDB writes NULL for what gets NULL because it has no default.
		if standard.Valid && !(b.Engine == "mariadb" && standard.String == "NULL") {
			text := standard.String
			if own != "" { // the same in databases of other names
				text = strings.ReplaceAll(text, "nextval("+own, "nextval(`")
			}
			c.Default = &text
		}
		b.column(table, c)
		if t := b.tables[table]; t != nil && strings.Contains(strings.ToLower(extra), "auto_increment") {
			if t.AutoIncrement == nil {
				t.AutoIncrement = &catalog.AutoIncrement{Next: 1}
			}
			t.AutoIncrement.Column, t.AutoIncrement.Max = c.Name, mysqlMax(c.Type)
		}
		if t := b.tables[table]; t != nil {
			t.invalid(d, &c)
		}
	}, &table, &c.Name, &c.Type, &c.dataType, &c.Nullable, &c.Collation, &c.charset, &c.length, &standard, &c.Generated, &extra)
	for _, t := range b.tables {
		if err == nil && len(t.columns) == 0 {
			err = fmt.Errorf("table %q was dropped or renamed while the catalogue was read", t.name)
		}
		if t.AutoIncrement != nil && t.AutoIncrement.Column == "" {
			t.AutoIncrement = nil
		}
	}
	return err
}

// mysqlReadCounters corrects the counters that MySQL does not show beyond the end of
// their column, or not at all once an INSERT failed there: the largest key tells.
func mysqlReadCounters(ctx context.Context, conn *sql.Conn, b *builder) error {
	for _, t := range b.tables {
		c := t.AutoIncrement
		if c == nil || c.Next > 1 && c.Next < c.Max {
			continue
		}
		column := sqldb.MySQL.Quote(c.Column)
		var largest uint64
		err := conn.QueryRowContext(ctx, "SELECT CAST(GREATEST(COALESCE(MAX("+column+"), 0), 0) AS UNSIGNED) FROM "+sqldb.MySQL.Quote(t.name)).Scan(&largest)
		if sqldb.IsDenied(err) {
			continue // it stays as it is shown
		}
		if err != nil {
			return fmt.Errorf("table %q: counter: %w", t.name, err)
		}
		c.Next = max(c.Next, min(largest, c.Max)+1)
	}
	return nil
}

// mysqlMax is the largest number that a column of the type counts to.
func mysqlMax(columnType string) uint64 {
	name, _, _ := strings.Cut(strings.ToLower(columnType), "(")
	name, _, _ = strings.Cut(name, " ")
	bits, ok := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[name]
	switch {
	case !ok && name == "float":
		return 1 << 24 // beyond, not every integer is one
	case !ok:
		return 1 << 53
	case strings.Contains(strings.ToLower(columnType), "unsigned") && bits == 64:
		return math.MaxUint64 - 1 // the last one is refused: error 1467
	case strings.Contains(strings.ToLower(columnType), "unsigned"):
		return 1<<bits - 1
	default:
		return 1<<(bits-1) - 1
	}
}

// mysqlKind says what the values of a column are.
func mysqlKind(c *column) {
	c.kind, c.why, c.IsID, c.Opaque, c.bits, c.alone, c.listed, c.json = other, "", false, "", false, false, false, false
	switch c.dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		c.kind = integer
	case "binary", "varbinary":
		c.kind = raw
		c.IsID = strings.EqualFold(c.Type, "binary(10)")
	case "tinyblob", "blob", "mediumblob", "longblob":
		c.kind = raw
		c.Opaque = strings.ToUpper(c.dataType)
	case "bit":
		c.kind, c.bits = integer, true
	case "set":
		// By its bits, in the order of its declaration, and so only beside the
		// same declaration: two would have two orders of the same members.
		c.kind, c.bits, c.alone, c.Collation = integer, true, true, ""
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection", "vector":
		c.kind = raw
		c.why = cannotCompare(c)
	case "char", "varchar":
		c.kind = text
	case "enum":
		// An ENUM is compared by its text, as = does, for two declarations may
		// number the same members in two ways.
		c.kind, c.listed = text, true
	case "decimal":
		c.kind = decimal
	case "float", "double":
		c.kind = real
	case "time":
		c.kind = duration
	case "uuid", "inet6", "inet4":
		c.kind, c.alone = address, true
	case "tinytext", "text", "mediumtext", "longtext":
		c.kind = text
	case "date", "datetime", "timestamp":
		c.kind = moment
	case "json":
		c.json = true
		c.why = cannotCompare(c)
	default:
		c.why = cannotCompare(c)
	}
	switch {
	case c.why != "":
	case c.kind == text && c.length > textLimit:
		c.why = fmt.Sprintf("texts of up to %d characters are too long to be sorted completely", c.length)
	case c.kind == raw && c.length > rawLimit:
		c.why = fmt.Sprintf("values of up to %d bytes are too long to be sorted completely", c.length)
	}
}

func cannotCompare(c *column) string {
	return fmt.Sprintf("values of type %s cannot be compared yet", c.Type)
}

func mysqlReadIndexes(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, index, column, expression string
	var prefix int
	var tells bool
	if err := conn.QueryRowContext(ctx, mysqlTellsExpressions).Scan(&tells); err != nil {
		return err
	}
	told := "''"
	if tells {
		told = "COALESCE(EXPRESSION, '')"
	}
	return listed(ctx, conn, strings.ReplaceAll(mysqlIndexes, "{expression}", told), func() {
		unclear := ""
		switch {
		case expression != "":
			unclear = "it covers the expression " + expression
			column = "(" + expression + ")" // no column has that name
		case column == "":
			unclear = "it covers an expression"
		case prefix > 0:
			unclear = fmt.Sprintf("it covers only the first %d characters of %s", prefix, column)
		}
		b.index(table, index, index == "PRIMARY", column, unclear)
	}, &table, &index, &column, &prefix, &expression)
}

// mysqlReadHidden tells whether the account would be shown the triggers.
func mysqlReadHidden(ctx context.Context, conn *sql.Conn, b *builder) (err error) {
	b.HiddenTriggers, err = hides(ctx, conn, "TRIGGER")
	return err
}

func mysqlReadReferences(ctx context.Context, conn *sql.Conn, b *builder) error {
	var table, name, column, toSchema, toTable, toColumn string
	var here bool
	return listed(ctx, conn, mysqlReferences, func() {
		if !here {
			toTable = toSchema + "." + toTable
		}
		b.reference(table, catalog.Reference{Name: name, ToTable: toTable}, column, toColumn)
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

// listed is each for what MariaDB lists by opening tables: one that another connection keeps locked is left out, or shown
// in part, with a warning. That is an error here.
func listed(ctx context.Context, conn *sql.Conn, query string, take func(), dest ...any) error {
	err := each(ctx, conn, query, take, dest...)
	if err == nil {
		err = mysql.LeftOut(ctx, conn)
	}
	return err
}
