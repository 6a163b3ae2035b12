package write

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
)

// CreateKept is the statement that makes a table for the rows of another one, if it is not there.
func CreateKept(r *job.Run, table, kept string) string {
	d, l := r.Target.Dialect(), r.Layouts[table]
	create := "CREATE TABLE IF NOT EXISTS " + d.Quote(kept)
	if d.MySQL() {
		return create + " LIKE " + d.Quote(table)
	}
	create += " (" + d.QuoteAll(l.Columns) // columns without a type keep values as they are
	if key := r.Keys[table].KeyColumns(); len(key) > 0 && l.Has(key) {
		create += ", PRIMARY KEY (" + d.QuoteAll(key) + ")"
	}
	return create + ")"
}

// MoveRows moves all rows of a table to another one, and returns how many there were. With
// another word than INSERT, not all may come.
func MoveRows(ctx context.Context, r *job.Run, to *rowio.Layout, how, from string) (rows int64, err error) {
	came, err := r.Target.Exec(ctx, "fill", to.InsertFrom(how, from), false)
	if err != nil {
		return 0, err
	}
	rows, err = r.Target.Exec(ctx, "empty", "DELETE FROM "+to.Dialect.Quote(from), false)
	if err == nil && how == "INSERT" && rows != came {
		err = fmt.Errorf("table %q of %q: %d rows were read and it has %d: another process writes to it", from, r.Target.Name, came, rows)
	}
	return rows, err
}

// Miscounted says that a table of the target has other rows than it should have by now.
func Miscounted(r *job.Run, table string, rows, want int64) error {
	return &ledger.ChangedError{Database: r.Target.Name, Table: table, Rows: rows, Want: want,
		Reason: fmt.Sprintf("table %q has %s, and should have %d", table, ledger.CountRows(rows), want)}
}
