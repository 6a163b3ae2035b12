package store

import (
	"database/sql"
	"fmt"
)

// int32Column and int64Column read a column into an integer. Package database/sql
// reads an int32 through its decimal digits and an int64 through
// reflection, which costs more time in a stream of rows than the key does.
type (
	int32Column int32
	int64Column int64
)

var (
	_ sql.Scanner = (*int32Column)(nil)
	_ sql.Scanner = (*int64Column)(nil)
)

// Scan implements [sql.Scanner].
func (c *int32Column) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return scanOther((*int32)(c), src)
	}
	if int64(int32(n)) != n {
		return fmt.Errorf("%d is out of the range of an int32", n)
	}
	*c = int32Column(n)
	return nil
}

// Scan implements [sql.Scanner].
func (c *int64Column) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return scanOther((*int64)(c), src)
	}
	*c = int64Column(n)
	return nil
}

// scanOther reads values that are rare: digits, or values that are no integers.
func scanOther[T int32 | int64](to *T, src any) error {
	var n sql.Null[T]
	if err := n.Scan(src); err != nil {
		return err
	}
	if !n.Valid {
		return fmt.Errorf("NULL in a column that is read into an %T", n.V)
	}
	*to = n.V
	return nil
}

// destination returns what [sql.Rows.Scan] takes for the field that p points
// to.
func destination(p any) any {
	switch n := p.(type) {
	case *int32:
		return (*int32Column)(n)
	case *int64:
		return (*int64Column)(n)
	}
	return p
}
