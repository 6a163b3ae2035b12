// Package inserts writes the rows of made-up worlds, many in a statement.
package inserts

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// size is how many bytes a statement grows to.
const size = 256 << 10

// Inserter writes rows.
type Inserter struct {
	Exec      func(statement string) error
	Backslash bool // in a text it is doubled, as MySQL wants it

	into      string
	statement []byte
}

// Add takes a row of a table, whose name may have the names of the columns behind it.
func (in *Inserter) Add(into string, values ...any) error {
	if into != in.into || len(in.statement) >= size {
		if err := in.Flush(); err != nil {
			return err
		}
		in.into, in.statement = into, append(in.statement, "INSERT INTO "+into+" VALUES "...)
	} else {
		in.statement = append(in.statement, ',')
	}
	separator := byte('(')
	for _, v := range values {
		in.statement = append(in.statement, separator)
		separator = ','
		switch v := v.(type) {
		case nil:
			in.statement = append(in.statement, "NULL"...)
		case int:
			in.statement = strconv.AppendInt(in.statement, int64(v), 10)
		case int64:
			in.statement = strconv.AppendInt(in.statement, v, 10)
		case uint64:
			in.statement = strconv.AppendUint(in.statement, v, 10)
		case float64:
			in.statement = strconv.AppendFloat(in.statement, v, 'f', 2, 64)
		case []byte:
			in.statement = append(hex.AppendEncode(append(in.statement, "x'"...), v), '\'')
		case string:
			if in.Backslash {
				v = strings.ReplaceAll(v, `\`, `\\`)
			}
			in.statement = append(in.statement, "'"+strings.ReplaceAll(v, "'", "''")+"'"...)
		default:
			return fmt.Errorf("%s: a value of the type %T", into, v)
		}
	}
	in.statement = append(in.statement, ')')
	return nil
}

// Flush writes the rows that were added last.
func (in *Inserter) Flush() error {
	statement := string(in.statement)
	in.into, in.statement = "", in.statement[:0]
	if statement == "" {
		return nil
	}
	return in.Exec(statement)
}
