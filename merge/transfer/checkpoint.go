package transfer

import (
	"context"
	"fmt"
)

// place is one table of one source.
type place struct{ source, table string }

// checkpoint is how far one step is in one place.
type checkpoint struct {
	step string
	place
	after    []any // key of the last row; nil at the beginning
	rows     int64
	sum      Sum
	finished bool
	saved    bool // in [ProgressTable]
}

// checkpoint reads a checkpoint, and takes it into the result.
func (r *run) checkpoint(ctx context.Context, step, source, table string) (*checkpoint, error) {
	c := &checkpoint{step: step, place: place{source, table}}
	err := r.target.rows(ctx, "SELECT last_key, done_rows, row_sum, finished FROM "+ProgressTable+" WHERE merge_id = ? AND step = ? AND source = ? AND tab = ?", true,
		[]any{r.plan.ID, step, source, table}, func(row []any) (bool, error) {
			c.saved = true
			c.rows, _ = row[1].(int64)
			finished, _ := row[3].(int64)
			c.finished = finished == 1
			if err := c.sum.UnmarshalText([]byte(text(row[2]))); err != nil {
				return false, err
			}
			var err error
			if key := text(row[0]); key != "" {
				c.after, err = decodeKey(key)
			}
			return true, err
		})
	if err == nil {
		r.reached(c, 0)
	}
	return c, err
}

// checkpoints returns how many rows of a step are done in each place.
func (m *manifest) checkpoints(ctx context.Context, step string) (map[place]int64, error) {
	rows := make(map[place]int64)
	err := m.on.rows(ctx, "SELECT source, tab, done_rows FROM "+ProgressTable+" WHERE merge_id = ? AND step = ?", false, []any{m.id, step}, func(row []any) (bool, error) {
		rows[place{text(row[0]), text(row[1])}], _ = row[2].(int64)
		return true, nil
	})
	return rows, err
}

// save writes a checkpoint, in the transaction that did the work. If the one
// before is not the saved one, another process works on the same merge.
func (m *manifest) save(ctx context.Context, before, now *checkpoint) error {
	key := ""
	if now.after != nil {
		var err error
		if key, err = encodeKey(now.after); err != nil {
			return err
		}
	}
	finished := 0
	if now.finished {
		finished = 1
	}
	if !before.saved {
		_, err := m.on.exec(ctx, "checkpoint", "INSERT INTO "+ProgressTable+" (merge_id, step, source, tab, last_key, done_rows, row_sum, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", true,
			m.id, now.step, now.source, now.table, key, now.rows, now.sum.String(), finished)
		return err
	}
	n, err := m.on.exec(ctx, "checkpoint", "UPDATE "+ProgressTable+" SET last_key = ?, done_rows = ?, row_sum = ?, finished = ? WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND done_rows = ? AND row_sum = ? AND finished = 0", true,
		key, now.rows, now.sum.String(), finished, m.id, now.step, now.source, now.table, before.rows, before.sum.String())
	if err == nil && n != 1 {
		err = movedError(now)
	}
	return err
}

// movedError tells that another process saved a checkpoint.
func movedError(c *checkpoint) error {
	return fmt.Errorf("%w: its checkpoint in table %q of %q has moved", errBusy, c.table, c.source)
}
