package job

import (
	"fmt"

	"mergesafe/merge/record"
)

// Miscounted says that a table of the new database has other rows than it should have by now.
func Miscounted(r *Run, table string, rows, want int64) error {
	return &record.ChangedError{Database: r.New.Name, Table: table, Rows: rows, Want: want,
		Reason: fmt.Sprintf("it has %s, and should have %d", record.CountRows(rows), want)}
}
