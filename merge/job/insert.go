package job

import (
	"context"
	"fmt"

	"mergesafe/merge/world"
)

// Insert adds rows to the new database, in as few statements as possible.
func Insert(ctx context.Context, r *Run, l *world.Layout, rows [][]any) error {
	if l.Bulk() && len(rows) > 0 {
		return r.New.Bulk(ctx, l, rows)
	}
	most := l.Dialect.Most(len(l.Columns))
	args := make([]any, 0, most*len(l.Columns))
	for len(rows) > 0 {
		args = args[:0]
		n, size := 0, 0
		for n < min(most, len(rows)) {
			one := RowSize(rows[n])
			if n > 0 && size+one > r.New.Packet {
				break
			}
			size += one
			args = append(args, rows[n]...)
			n++
		}
		took, err := r.New.Exec(ctx, "insert", l.Insert(n), n == most, args...)
		if err == nil && took != int64(n) { // ON CONFLICT IGNORE
			err = fmt.Errorf("the database took %d of %d rows", took, n)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func RowSize(row []any) (n int) {
	for _, v := range row {
		switch v := v.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
		n += 9
	}
	return n
}
