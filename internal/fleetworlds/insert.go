package fleetworlds

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// inserter writes rows in statements of many.
type inserter struct {
	ctx       context.Context
	tx        *sql.Tx
	table     string
	statement []byte
}

const statementSize = 128 << 10

func (in *inserter) add(table string, values ...any) error {
	if table != in.table || len(in.statement) > statementSize {
		if err := in.flush(); err != nil {
			return err
		}
		in.table, in.statement = table, append(in.statement, "INSERT INTO "+table+" VALUES "...)
	} else {
		in.statement = append(in.statement, ',')
	}
	separator := byte('(')
	for _, v := range values {
		in.statement = append(in.statement, separator)
		separator = ','
		switch v := v.(type) {
		case int:
			in.statement = strconv.AppendInt(in.statement, int64(v), 10)
		case int64:
			in.statement = strconv.AppendInt(in.statement, v, 10)
		case string:
			in.statement = append(in.statement, "'"+strings.ReplaceAll(v, "'", "''")+"'"...)
		default:
			return fmt.Errorf("%s: a value of the type %T", table, v)
		}
	}
	in.statement = append(in.statement, ')')
	return nil
}

func (in *inserter) flush() error {
	if len(in.statement) == 0 {
		return nil
	}
	_, err := in.tx.ExecContext(in.ctx, string(in.statement))
	in.statement = in.statement[:0]
	return err
}
