package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mergesafe/internal/sqldb"
)

// copyPart copies the rows of one source to one table, or a range of them.
func (r *run) copyPart(ctx context.Context, p part) error {
	t, src := &r.plan.Tables[p.table], r.sources[p.source]
	l := r.layouts[t.Name]
	change := r.changes.of(src.Name, l)
	return r.retryCounted(ctx, fmt.Sprintf("copying table %q of %q", t.Name, src.Name), func(soft context.Context) error {
		c, err := r.checkpointOf(soft, StepCopy, p)
		if err != nil {
			return err
		}
		r.resumed(StepCopy, src.Name, t.Name, c.rows)
		if c.finished {
			return nil
		}
		if l.multiset() {
			return r.copyMultiset(ctx, soft, src, l, c, t.Sources[p.source])
		}
		ranges := t.Sources[p.source].parts()
		want := expected{rows: ranges[p.number].Rows, sum: ranges[p.number].Sum, part: p.number < len(ranges)-1}
		err = r.batches(ctx, soft, src, l, c, want, func(rows [][]any) (int64, error) {
			r.seen.add(r.plan, p.source, l, rows)
			if err := change.rows(rows); err != nil {
				return 0, err
			}
			return int64(len(rows)), r.insert(soft, l, rows)
		})
		if err != nil {
			r.seen.forget(p.source, t.Name)
		}
		return err
	})
}

// expected is what the rows of a table must be together.
type expected struct {
	rows int64
	sum  Sum
	part bool // more rows may follow, which are not read
	any  bool // nothing is expected
}

// batches calls work with the rows of a table that come after a checkpoint, batch
// by batch, each in a transaction of the target that saves the next checkpoint.
// At the end all rows together must be the expected ones. work returns how many
// rows it wrote.
func (r *run) batches(ctx, soft context.Context, from *connection, l *layout, before *checkpoint, want expected, work func(rows [][]any) (int64, error)) error {
	p := newPace(r.hooks.batch)
	most := int64(all)
	if want.part {
		most = want.rows - before.rows
	}
	next, stop := pages(soft, from, l, before.after, p.size, most, true)
	defer stop()
	for {
		if err := r.between(ctx); err != nil {
			return err
		}
		pg, err := next()
		if err != nil {
			return err
		}
		began := time.Now()
		now := *before
		now.saved, now.finished = true, pg.last
		now.rows += int64(len(pg.rows))
		now.sum = now.sum.Add(pg.sum)
		if n := len(pg.rows); n > 0 {
			now.after = l.keyOf(pg.rows[n-1])
		}
		if !want.any && (now.rows > want.rows || now.finished && now.rows < want.rows || now.rows == want.rows && now.sum != want.sum) {
			return &ChangedError{Database: from.Name, Table: l.table, Rows: now.rows, Want: want.rows}
		}
		var written int64
		err = r.target.tx(soft, func() (err error) {
			if written, err = work(pg.rows); err == nil {
				err = r.manifest.save(soft, before, &now)
			}
			return err
		})
		if err != nil {
			return r.notWritten(soft, before, err)
		}
		r.committed++
		p.took(len(pg.rows), time.Since(began))
		r.reached(&now, written)
		r.progress(now.step, from.Name, l.table, len(pg.rows))
		if pg.last {
			return nil
		}
		before = &now
	}
}

// notWritten says why a batch could not be written. A row that is there already
// was either copied by another process just now, or is not of this merge.
func (r *run) notWritten(ctx context.Context, before *checkpoint, err error) error {
	if errors.Is(err, sqldb.ErrDuplicate) && before.step == StepRestore {
		return fmt.Errorf("transfer: table %q of %q: a row cannot get its old value back, because a new row has it: give the new row another value or remove it, then run undo again: %w", before.table, before.source, err)
	}
	if errors.Is(err, sqldb.ErrDuplicate) {
		now, readErr := r.checkpoint(ctx, before.step, before.place, before.begin)
		switch {
		case readErr != nil:
			err = readErr
		case now.rows != before.rows:
			return movedError(now)
		default:
			return fmt.Errorf("transfer: table %q: a row of %q is in the target already, and was not when the plan was made: undo the merge and plan again: %w", before.table, before.source, err)
		}
	}
	return fmt.Errorf("writing table %q: %w", before.table, err)
}

// insert adds rows to the target, in as few statements as possible.
func (r *run) insert(ctx context.Context, l *layout, rows [][]any) error {
	most := l.dialect.most(len(l.columns))
	args := make([]any, 0, most*len(l.columns))
	for len(rows) > 0 {
		args = args[:0]
		n, size := 0, 0
		for n < min(most, len(rows)) {
			one := rowSize(rows[n])
			if n > 0 && size+one > r.target.packet {
				break
			}
			size += one
			args = append(args, rows[n]...)
			n++
		}
		if _, err := r.target.exec(ctx, "insert", l.insert(n), n == most, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func rowSize(row []any) (n int) {
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
