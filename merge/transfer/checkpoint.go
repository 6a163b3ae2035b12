package transfer

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// place is one range of the rows of one source in one table; see [Range].
type place struct {
	source, table string
	part          int
}

// checkpoint is how far one step is in one place.
type checkpoint struct {
	step string
	place
	begin    []any // key after which the range begins; nil for the first one
	after    []any // key of the last row; at the beginning, begin
	rows     int64
	sum      Sum
	finished bool
	saved    bool // in [ProgressTable]
}

// checkpointOf reads a checkpoint of a part of the plan.
func (r *run) checkpointOf(ctx context.Context, step string, p part) (*checkpoint, error) {
	t := &r.plan.Tables[p.table]
	begin, err := t.Sources[p.source].begin(p.number)
	if err != nil {
		return nil, err
	}
	return r.checkpoint(ctx, step, place{r.plan.Sources[p.source].Name, t.Name, p.number}, begin)
}

// checkpointsOf reads the checkpoints of all rows of a source in a table of the plan.
func (r *run) checkpointsOf(ctx context.Context, step string, table, source int) (all []*checkpoint, err error) {
	for i := range r.plan.Tables[table].Sources[source].parts() {
		c, err := r.checkpointOf(ctx, step, part{table, source, i})
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// checkpoint reads a checkpoint, and takes it into the result.
func (r *run) checkpoint(ctx context.Context, step string, at place, begin []any) (*checkpoint, error) {
	c := &checkpoint{step: step, place: at, begin: begin, after: begin}
	err := r.target.rows(ctx, "SELECT last_key, done_rows, row_sum, finished FROM "+ProgressTable+" WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND part = ?", true,
		[]any{r.plan.ID, step, at.source, at.table, at.part}, func(row []any) (bool, error) {
			rows, err := intIn(row[1], ProgressTable+".done_rows")
			if err != nil {
				return false, err
			}
			finished, err := intIn(row[3], ProgressTable+".finished")
			if err != nil {
				return false, err
			}
			c.saved, c.rows, c.finished = true, rows, finished == 1
			if err := c.sum.UnmarshalText([]byte(text(row[2]))); err != nil {
				return false, err
			}
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

// checkpoints returns how many rows of a step are done in each place. It is an error if those of
// any step cannot be read: a later look for one of them would find none.
func (m *manifest) checkpoints(ctx context.Context, step string) (map[place]int64, error) {
	rows := make(map[place]int64)
	column := "part"
	if divided, err := m.dividedProgress(ctx); err != nil {
		return nil, err
	} else if !divided {
		column = "0"
	}
	query := "SELECT source, tab, " + column + ", done_rows, step FROM " + ProgressTable + " WHERE merge_id = ?"
	err := m.on.rows(ctx, query, false, []any{m.id}, func(row []any) (bool, error) {
		part, err := intIn(row[2], ProgressTable+".part")
		if err != nil {
			return false, err
		}
		n, err := intIn(row[3], ProgressTable+".done_rows")
		if text(row[4]) == step {
			rows[place{text(row[0]), text(row[1]), int(part)}] = n
		}
		return true, err
	})
	return rows, err
}

// progress is how far all steps of the merge are, to be compared: every batch changes it.
func (m *manifest) progress(ctx context.Context) (string, error) {
	var places []string
	err := m.on.rows(ctx, "SELECT * FROM "+ProgressTable+" WHERE merge_id = ?", false, []any{m.id}, func(row []any) (bool, error) {
		places = append(places, fmt.Sprintf("%q", row))
		return true, nil
	})
	slices.Sort(places)
	return strings.Join(places, "\n"), err
}

// together adds up what is done of the parts of each table and source.
func together(rows map[place]int64) map[place]int64 {
	all := make(map[place]int64)
	for at, n := range rows {
		all[place{source: at.source, table: at.table}] += n
	}
	return all
}

// save writes a checkpoint, in the transaction that did the work. If the one
// before is not the saved one, another process works on the same merge.
func (m *manifest) save(ctx context.Context, before, now *checkpoint) error {
	if err := m.still(ctx, stateOf[now.step], sharing); err != nil {
		return err
	}
	return m.note(ctx, before, now)
}

// note is save if the state of the merge is held already.
func (m *manifest) note(ctx context.Context, before, now *checkpoint) error {
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
		_, err := m.on.exec(ctx, "checkpoint", "INSERT INTO "+ProgressTable+" (merge_id, step, source, tab, part, last_key, done_rows, row_sum, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", true,
			m.id, now.step, now.source, now.table, now.part, key, now.rows, now.sum.String(), finished)
		return err
	}
	n, err := m.on.exec(ctx, "checkpoint", "UPDATE "+ProgressTable+" SET last_key = ?, done_rows = ?, row_sum = ?, finished = ? WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND part = ? AND done_rows = ? AND row_sum = ? AND finished = 0", true,
		key, now.rows, now.sum.String(), finished, m.id, now.step, now.source, now.table, now.part, before.rows, before.sum.String())
	if err == nil && n != 1 {
		err = movedError(now)
	}
	return err
}

// stateOf is the state in which a merge is while a step writes.
var stateOf = map[string]State{StepCopy: StateCopying, StepRename: StateCopying, StepUndo: StateUndoing, StepRestore: StateUndoing}

// movedError tells that another process saved a checkpoint.
func movedError(c *checkpoint) error {
	return fmt.Errorf("%w: its checkpoint in table %q of %q has moved", ErrBusy, c.table, c.source)
}
