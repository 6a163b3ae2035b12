package world

import (
	"context"
	"database/sql/driver"

	"mergesafe/merge/catalog"
)

// Ends implements [catalog.Ender]. Where the database would have to sort the
// table for it, the error is a [*catalog.UnsupportedError].
func (s *Source) Ends(ctx context.Context, scan catalog.Scan) (first, last *catalog.Batch, err error) {
	schema, err := s.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.leave()
	if first, last, err = s.ends(ctx, schema, scan); err != nil {
		return nil, nil, s.scanError(ctx, scan, err)
	}
	return first, last, nil
}

func (s *Source) ends(ctx context.Context, schema *schema, scan catalog.Scan) (first, last *catalog.Batch, err error) {
	q, err := s.plan(ctx, schema, scan, false)
	if err != nil {
		return nil, nil, err
	}
	if !q.indexed {
		return nil, nil, &catalog.UnsupportedError{Column: orderNames(scan), Reason: "it would have to be sorted"}
	}
	for _, end := range []struct {
		statement string
		batch     **catalog.Batch
	}{{q.statement, &first}, {q.backwards, &last}} {
		b := q.buffer()
		err := s.query(ctx, end.statement+" LIMIT 1", false, func(rows driver.Rows, dest []driver.Value) error {
			_, err := b.fill(rows, dest, new(int), nil)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		if b.rows > 0 {
			*end.batch = q.batch(b)
		}
	}
	return first, last, s.dialect.unchanged()
}
