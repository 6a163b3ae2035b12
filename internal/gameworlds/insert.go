package gameworlds

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// batch is how many bytes a statement of an inserter grows to.
const batch = 256 << 10

// inserter writes the rows of a table, many in a statement.
type inserter struct {
	conn      *sql.Conn
	head      string
	statement []byte
}

func newInserter(conn *sql.Conn, t *table, fields []*field) *inserter {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = quote(f.column.Name)
	}
	return &inserter{conn: conn, head: "INSERT INTO " + quote(t.name) + " (" + strings.Join(names, ", ") + ") VALUES "}
}

// add takes a row: of each field its value.
func (in *inserter) add(ctx context.Context, row []any, fields []*field) error {
	if len(in.statement) == 0 {
		in.statement = append(in.statement, in.head...)
	} else {
		in.statement = append(in.statement, ", "...)
	}
	separator := byte('(')
	for _, f := range fields {
		in.statement = append(in.statement, separator)
		in.statement = appendLiteral(in.statement, row[f.column.place])
		separator = ','
	}
	in.statement = append(in.statement, ')')
	if len(in.statement) >= batch {
		return in.flush(ctx)
	}
	return nil
}

func (in *inserter) flush(ctx context.Context) error {
	if len(in.statement) == 0 {
		return nil
	}
	_, err := in.conn.ExecContext(ctx, string(in.statement))
	in.statement = in.statement[:0]
	return err
}

var escapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// appendLiteral appends a value as SQL.
func appendLiteral(statement []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(statement, "NULL"...)
	case int64:
		return strconv.AppendInt(statement, v, 10)
	case float64:
		return strconv.AppendFloat(statement, v, 'f', 2, 64)
	case []byte:
		return append(hex.AppendEncode(append(statement, "x'"...), v), '\'')
	case string:
		return append(append(append(statement, '\''), escapes.Replace(v)...), '\'')
	default:
		return appendLiteral(statement, fmt.Sprint(v))
	}
}
