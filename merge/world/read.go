package world

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"

	"mergesafe/merge/catalog"
)

// buffer is what one batch is read into.
type buffer struct {
	rows    int
	columns []vector
	sift    []sift
	batch   catalog.Batch
}

func (b *buffer) reset() {
	b.rows = 0
	for i := range b.columns {
		b.columns[i].reset()
	}
}

func (b *buffer) size() (n int) {
	for i := range b.columns {
		n += len(b.columns[i].data) + 8*len(b.columns[i].numbers)
	}
	return n
}

// fill reads rows until the buffer is full, but for the next ones that are to be skipped. beside, if not nil, takes all of
// them. more is false after the last row.
func (b *buffer) fill(rows driver.Rows, dest []driver.Value, skip *int, beside func(row []driver.Value) error) (more bool, err error) {
	for b.rows < batchRows {
		if err := rows.Next(dest); err != nil {
			if err == io.EOF {
				return false, nil
			}
			return false, err
		}
		if slices.ContainsFunc(b.sift, func(out sift) bool { return out(dest) }) {
			continue
		}
		if beside != nil {
			if err := beside(dest); err != nil {
				return false, err
			}
		}
		if *skip > 0 {
			*skip--
			continue
		}
		for i := range b.columns {
			if err := b.columns[i].add(dest); err != nil {
				return false, err
			}
		}
		if b.rows++; b.rows%64 == 0 && b.size() >= batchBytes {
			break
		}
	}
	return true, nil
}

// query runs a statement and lets use read its rows. It reads from the driver
// itself: what database/sql does for every row costs as much as all that is
// done here.
func (s *Source) query(ctx context.Context, statement string, prepared bool, use func(driver.Rows, []driver.Value) error) error {
	return s.conn.Raw(func(conn any) error {
		queryer, ok := conn.(driver.QueryerContext)
		if !ok {
			return errors.New("the driver does not take statements with a context")
		}
		ask := func() (driver.Rows, error) { return queryer.QueryContext(ctx, statement, nil) }
		if prepared {
			p, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
			if err != nil {
				return err
			}
			defer p.Close()
			ask = func() (driver.Rows, error) { return p.(driver.StmtQueryContext).QueryContext(ctx, nil) }
		}
		rows, err := ask()
		if err != nil {
			return err
		}
		defer rows.Close()
		return use(rows, make([]driver.Value, len(rows.Columns())))
	})
}

// read runs a statement and hands over its rows in buffers, which come back
// through free. Rows that were handed over before are skipped.
func (s *Source) read(ctx context.Context, q *query, read chan<- *buffer, free chan *buffer, quit <-chan struct{}) error {
	return s.query(ctx, q.statement, q.prepared, func(rows driver.Rows, dest []driver.Value) error {
		beside, skip := q.besides(), q.handed
		for more := true; more; {
			var b *buffer
			select {
			case b = <-free:
			case <-quit:
				return nil
			}
			if s.options.Pause != nil {
				if err := s.options.Pause(ctx); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil { // the driver may have rows left that it has received already
				return err
			}
			var err error
			if more, err = b.fill(rows, dest, &skip, beside); err != nil {
				b.reset()
				free <- b
				return err
			}
			if b.rows == 0 {
				break
			}
			q.handed += b.rows
			select {
			case read <- b:
			case <-quit:
				return nil
			}
		}
		return nil
	})
}

// readUntested reads again from the start what the server could not read while it tested conditions, and skips the rows that
// were handed over: they come in the order of the key.
func (s *Source) readUntested(ctx context.Context, schema *schema, scan catalog.Scan, tested *query, read chan<- *buffer, free chan *buffer, quit <-chan struct{}) error {
	delete(s.tests, scan.Table)
	q, err := s.plan(ctx, schema, scan, true)
	if err != nil {
		return err
	}
	q.handed = tested.handed
	q.begin()
	return s.read(ctx, q, read, free, quit)
}
