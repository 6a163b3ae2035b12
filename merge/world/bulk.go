package world

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqldb/mysql"
	"mergesafe/merge/catalog"
)

// Rows of a new database are written as text: servers take that in less time than prepared
// statements of many rows. LOAD DATA LOCAL takes three quarters of what INSERT does, where a
// server allows it.

// Bulk adds rows to a table of MySQL or MariaDB. An error may have written some of them, unless it
// is in a transaction. The values are those that [ReadPage] read.
//
// What the server would change on the way is an error: LOAD DATA LOCAL makes warnings of what INSERT refuses.
func (c *Connection) Bulk(ctx context.Context, l *Layout, rows [][]any) error {
	if err := c.Connect(ctx); err != nil {
		return err
	}
	if c.loads == nil {
		loads, err := c.takesLoads(ctx)
		if err != nil {
			return err
		}
		c.loads = &loads
	}
	rows, numbered := l.asNumbers(rows)
	var err error
	if *c.loads {
		err = c.load(ctx, l, rows, numbered)
	} else {
		err = c.insertText(ctx, l, rows)
	}
	if err != nil {
		return fmt.Errorf("table %q: %w", l.Table, err)
	}
	return nil
}

// asNumbers gives the values of ENUMs and SETs their numbers: as texts, two members may be equal for the server. A
// column with a value that is not in its list stays as it is, for the server to judge.
func (l *Layout) asNumbers(rows [][]any) (out [][]any, numbered []bool) {
	out, numbered = rows, make([]bool, len(l.Columns))
	for i, n := range l.Numbers {
		if n == nil || n.Members == nil {
			continue
		}
		numbers := make([]any, len(rows))
		var err error
		for k := 0; k < len(rows) && err == nil; k++ {
			if v := rows[k][i]; v != nil {
				numbers[k], err = n.number(v)
			}
		}
		if err != nil {
			continue
		}
		if !slices.Contains(numbered, true) { // the first one: the caller keeps its rows
			out = slice.Map(rows, slices.Clone)
		}
		for k := range out {
			out[k][i] = numbers[k]
		}
		numbered[i] = true
	}
	return out, numbered
}

// takesLoads reports whether the server takes LOAD DATA LOCAL, and as one transaction: Galera may commit it in pieces.
func (c *Connection) takesLoads(ctx context.Context) (bool, error) {
	has, err := c.variables(ctx, "local_infile", "wsrep_load_data_splitting")
	return has["local_infile"] == "ON" && has["wsrep_load_data_splitting"] != "ON", err
}

// load writes rows by LOAD DATA LOCAL. All values are sent as bytes, which columns of numbers, times,
// bytes and of our character set take as they are. The others are told what the bytes mean; so is a column that
// counts, which takes a 0 for the next number beside such a column (MariaDB), unless it is told, too.
func (c *Connection) load(ctx context.Context, l *Layout, rows [][]any, numbered []bool) error {
	var fields, sets []string
	for i, name := range l.Columns {
		field := l.Dialect.Quote(name)
		if !l.direct[i] {
			variable := "@v" + strconv.Itoa(i)
			value := "CONVERT(" + variable + " USING utf8mb4)"
			if numbered[i] {
				value = "CAST(" + variable + " AS UNSIGNED)"
			}
			sets = append(sets, field+" = "+value)
			field = variable
		}
		fields = append(fields, field)
	}
	var b []byte
	years := l.columnsOf("year")
	for _, row := range rows {
		for i, v := range row {
			if i > 0 {
				b = append(b, '\t')
			}
			if years[i] && v == int64(0) {
				v = "0000" // the text 0 is 2000
			}
			b = appendField(b, v)
		}
		b = append(b, '\n')
	}
	name, done := mysql.Offer(bytes.NewReader(b))
	defer done()
	query := "LOAD DATA LOCAL INFILE '" + name + "' INTO TABLE " + l.Dialect.Quote(l.Table) +
		" CHARACTER SET binary FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' (" + strings.Join(fields, ", ") + ")"
	if len(sets) > 0 {
		query += " SET " + strings.Join(sets, ", ")
	}
	return c.took(ctx, query, len(rows))
}

// took runs a statement that writes so many rows. A warning is an error: a value was cut, or a row left out.
func (c *Connection) took(ctx context.Context, statement string, rows int) error {
	n, err := c.Exec(ctx, "insert", statement, false)
	if err == nil {
		err = c.warned(ctx)
	}
	if err == nil && n != int64(rows) {
		err = fmt.Errorf("the database took %d of %d rows", n, rows)
	}
	return err
}

// warned returns the first warning of the last statement as the error that it is where the server is strict.
func (c *Connection) warned(ctx context.Context) error {
	counted, err := c.last(ctx, "SHOW COUNT(*) WARNINGS")
	if err != nil {
		return err
	}
	n, err := IntIn(counted[0], "the number of warnings")
	if n == 0 || err != nil {
		return err
	}
	first, err := c.last(ctx, "SHOW WARNINGS LIMIT 1") // Level, Code, Message
	if err != nil {
		return err
	}
	if first == nil { // max_error_count is 0
		return fmt.Errorf("the server gives %d warnings without a reason: %w", n, sqldb.ErrInvalid)
	}
	code, err := IntIn(first[1], "the code of a warning")
	if err != nil {
		return err
	}
	return sqldb.Translate(mysql.Warning(uint16(code), Text(first[2])))
}

// last returns the first row of what a question about the last statement tells. It goes as a text: to prepare a
// statement makes the server forget.
func (c *Connection) last(ctx context.Context, question string) (row []any, err error) {
	err = c.conn.Raw(func(raw any) error {
		rows, err := raw.(driver.QueryerContext).QueryContext(ctx, question, nil)
		if err != nil {
			return err
		}
		defer rows.Close()
		values := make([]driver.Value, len(rows.Columns()))
		if err := rows.Next(values); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		for _, v := range values {
			if b, is := v.([]byte); is { // which belongs to the driver
				v = string(b)
			}
			row = append(row, v)
		}
		return nil
	})
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	return row, nil
}

// appendField appends a value as LOAD DATA reads it.
func appendField(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, '\\', 'N')
	case []byte:
		return appendEscaped(b, v)
	case string:
		return appendEscaped(b, v)
	}
	return appendNumber(b, v)
}

func appendEscaped[T string | []byte](b []byte, v T) []byte {
	for i := range len(v) {
		switch c := v[i]; c {
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case 0:
			b = append(b, '\\', '0')
		case '\\', '\'':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return b
}

func appendNumber(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case float32:
		return strconv.AppendFloat(b, float64(v), 'e', -1, 64) // the largest one, rounded to its own digits, is too large
	case float64:
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return fmt.Append(b, v)
}

// insertText writes rows by INSERT with the values in the statement, but for rows that are too long for that: the driver
// sends their values apart, and long ones in pieces.
func (c *Connection) insertText(ctx context.Context, l *Layout, rows [][]any) error {
	begin := "INSERT INTO " + l.Dialect.Quote(l.Table) + " (" + l.Dialect.QuoteAll(l.Columns) + ") VALUES "
	binary := l.columnsOf(bytesKinds...)
	b := make([]byte, 0, 64<<10)
	count := 0
	flush := func() error {
		err := c.took(ctx, string(b), count)
		b, count = b[:0], 0
		return err
	}
	const most = 1000
	var one []byte
	for _, row := range rows {
		one = append(one[:0], '(')
		for i, v := range row {
			if i > 0 {
				one = append(one, ',')
			}
			one = appendLiteral(one, v, binary[i])
		}
		one = append(one, ')')
		if len(one) > c.Packet {
			if _, err := c.Exec(ctx, "insert", l.Insert(1), false, row...); err != nil {
				return err
			}
			continue
		}
		if count > 0 && (count == most || len(b)+len(one)+1 > c.Packet) {
			if err := flush(); err != nil {
				return err
			}
		}
		if count == 0 {
			b = append(b, begin...)
		} else {
			b = append(b, ',')
		}
		b = append(b, one...)
		count++
	}
	if count == 0 {
		return nil
	}
	return flush()
}

// appendLiteral appends a value as SQL.
func appendLiteral(b []byte, v any, binary bool) []byte {
	text := func(v []byte) []byte {
		if binary {
			return append(hex.AppendEncode(append(b, 'x', '\''), v), '\'')
		}
		return append(appendEscaped(append(b, '\''), v), '\'')
	}
	switch v := v.(type) {
	case nil:
		return append(b, "NULL"...)
	case []byte:
		return text(v)
	case string:
		return text([]byte(v))
	}
	return appendNumber(b, v)
}

// columnsOf tells of each column whether its type is of some kinds.
func (l *Layout) columnsOf(kinds ...string) []bool {
	all := make([]bool, len(l.Columns))
	for i, t := range l.Types {
		all[i] = ofKind(t, kinds)
	}
	return all
}

var (
	bytesKinds = []string{"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit", "vector",
		"geometry", "point", "linestring", "polygon", "multi", "geomcollection"}
	numberKinds = []string{"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year"}
	plainKinds  = slices.Concat(numberKinds, []string{"date", "time"}, bytesKinds)
	textKinds   = []string{"char", "varchar", "tinytext", "text", "mediumtext", "longtext"}
)

func ofKind(typ string, kinds []string) bool {
	typ = strings.ToLower(typ)
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(typ, kind) })
}

// takesBytes reports whether a column takes a value that is sent as bytes for what it is.
func takesBytes(c *catalog.Column) bool {
	return ofKind(c.Type, plainKinds) || ofKind(c.Type, textKinds) && (strings.HasPrefix(c.Collation, "utf8mb4_") || strings.HasPrefix(c.Collation, "uca1400_"))
}
