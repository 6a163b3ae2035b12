package store

import (
	"database/sql"
	"fmt"
)

// int32Column reads a column into an int32. Package database/sql goes through
// the decimal digits of a number for every integer that is not an int64, which
// costs a stream of rows more than the key does.
type int32Column int32

var _ sql.Scanner = (*int32Column)(nil)

// Scan implements [sql.Scanner].
func (c *int32Column) Scan(src any) error {
	if n, ok := src.(int64); ok {
		if int64(int32(n)) != n {
			return fmt.Errorf("%d is out of the range of an int32", n)
		}
		*c = int32Column(n)
		return nil
	}
	// Seldom: digits, or what is no number at all.
	var n sql.Null[int32]
	if err := n.Scan(src); err != nil {
		return err
	}
	if !n.Valid {
		return fmt.Errorf("NULL in a column that is read into an int32")
	}
	*c = int32Column(n.V)
	return nil
}

// destination returns what [sql.Rows.Scan] takes for the field that p points
// to.
func destination(p any) any {
	if n, ok := p.(*int32); ok {
		return (*int32Column)(n)
	}
	return p
}
