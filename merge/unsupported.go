package merge

import "fmt"

// UnsupportedError is what [Source.Scan] gives where it cannot sort and
// compare the values of a column faithfully: their type has no sorting form
// yet, the collation is unknown to the database, or a value is not of the
// column's type. What depends on that scan is not verified, for this reason;
// the rest of the check goes on.
type UnsupportedError struct {
	Table, Column string
	Reason        string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("table %q, column %q: %s", e.Table, e.Column, e.Reason)
}
