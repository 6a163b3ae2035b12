package check

import (
	"context"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"

	"mergesafe/merge/stream"
)

// cellsOf returns what lists the cells of a row in which a format looks, from what a stream carries.
func cellsOf(r *keys.Row, s *stream.Stream) func(row int) [][]byte {
	at := slice.Map(r.Columns(), s.Carry)
	cells := make([][]byte, len(at))
	return func(row int) [][]byte {
		for i := range at {
			cells[i] = s.CarriedAt(at[i], row)
		}
		return cells
	}
}

// inCellsOf returns what lists the numbers in the cells of a row that name something. Of a
// cell that does not have the format it lists none.
func inCellsOf(r *rules.Ref, s *stream.Stream) func(row int) []keys.Integer {
	cells := cellsOf(r.Cells, s)
	return func(row int) (all []keys.Integer) {
		for _, k := range s.KeysIn(r.Cells, cells(row), row) {
			if !r.None.HasInteger(k.Value) {
				all = append(all, k.Value)
			}
		}
		return all
	}
}

// countRows counts the rows of a table where not all of it was read.
func countRows(ctx context.Context, f *Facts, table string) error {
	for db := range f.Having(table) {
		if _, err := Count(ctx, db, table); err != nil {
			return err
		}
	}
	return nil
}

// Count returns the exact number of rows of a table: it is known if all of it was read.
func Count(ctx context.Context, db *rules.Database, table string) (n int64, err error) {
	if n, known := db.Rows[table]; known {
		return n, nil
	}
	if err = ctx.Err(); err == nil {
		n, err = db.Opened.Count(ctx, table)
		if ctxErr := ctx.Err(); ctxErr != nil {
			err = ctxErr
		}
	}
	if err != nil {
		return 0, &catalog.ReadError{World: db.Name, Table: table, Doing: "the number of rows", Err: err}
	}
	db.Rows[table] = n
	return n, nil
}
