package write

import (
	"fmt"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
)

// Miscounted says that a table of the new database has other rows than it should have by now.
func Miscounted(r *job.Run, table string, rows, want int64) error {
	return &ledger.ChangedError{Database: r.New.Name, Table: table, Rows: rows, Want: want,
		Reason: fmt.Sprintf("it has %s, and should have %d", ledger.CountRows(rows), want)}
}
