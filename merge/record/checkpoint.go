package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/world"
)

// Place is one range of the rows of one world in one table; see [world.Range].
type Place struct {
	World, Table string
	Part         int
}

// Checkpoint is what a worker wrote of one place until now. Each batch of rows changes it in the same transaction, by
// compare-and-set, so that of two processes that fill one place one stops. It says which places are finished; a
// table of which one is not is emptied by the next process, and filled again.
type Checkpoint struct {
	Place
	Rows     int64     // of the world
	Sum      world.Sum // of them, as they are there
	Written  world.Sum // of what was written for them
	Finished bool
	Saved    bool // in [ProgressTable]
}

const checkpointsOf = "SELECT source, tab, part, done_rows, row_sum, finished, new_sum FROM " + ProgressTable + " WHERE merge_id = ? AND step = '" + StepCopy + "'"

// Checkpoints returns those of all places. It is an error if one of them cannot be read.
func (m *Manifest) Checkpoints(ctx context.Context) (all map[Place]Checkpoint, err error) {
	found, err := m.Tables(ctx)
	if err != nil || !slices.Contains(found, ProgressTable) { // the process was killed when it had made the record alone
		return nil, err
	}
	return m.checkpoints(ctx, checkpointsOf, m.ID)
}

// Wrote returns the sum of all that the merge wrote, by table.
func (m *Manifest) Wrote(ctx context.Context) (map[string]world.Sum, error) {
	places, err := m.Checkpoints(ctx)
	all := make(map[string]world.Sum)
	for at, c := range places {
		all[at.Table] = all[at.Table].Add(c.Written)
	}
	return all, err
}

// Checkpoint returns that of one place.
func (m *Manifest) Checkpoint(ctx context.Context, at Place) (Checkpoint, error) {
	all, err := m.checkpoints(ctx, checkpointsOf+" AND source = ? AND tab = ? AND part = ?", m.ID, at.World, at.Table, at.Part)
	c := all[at]
	c.Place = at
	return c, err
}

func (m *Manifest) checkpoints(ctx context.Context, query string, args ...any) (map[Place]Checkpoint, error) {
	all := make(map[Place]Checkpoint)
	err := m.On.Rows(ctx, query, false, args, func(row []any) (bool, error) {
		c := Checkpoint{Place: Place{World: world.Text(row[0]), Table: world.Text(row[1])}, Saved: true}
		part, err := world.IntIn(row[2], ProgressTable+".part")
		if err == nil {
			c.Part = int(part)
			c.Rows, err = world.IntIn(row[3], ProgressTable+".done_rows")
		}
		if err == nil {
			err = c.Sum.UnmarshalText([]byte(world.Text(row[4])))
		}
		finished := int64(0)
		if err == nil {
			finished, err = world.IntIn(row[5], ProgressTable+".finished")
		}
		c.Finished = finished == 1
		if err == nil {
			err = c.Written.UnmarshalText([]byte(world.Text(row[6])))
		}
		all[c.Place] = c
		return true, err
	})
	return all, err
}

// Save writes a checkpoint, in the transaction that does the work, before that. If the one
// before is not the saved one, another process works on the same merge.
func (m *Manifest) Save(ctx context.Context, before, now *Checkpoint) error {
	if err := m.HoldState(ctx, m.Working(), Shared); err != nil {
		return err
	}
	finished := 0
	if now.Finished {
		finished = 1
	}
	if !before.Saved {
		_, err := m.On.Exec(ctx, "checkpoint", "INSERT INTO "+ProgressTable+" (merge_id, step, source, tab, part, done_rows, row_sum, new_sum, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", true,
			m.ID, StepCopy, now.World, now.Table, now.Part, now.Rows, now.Sum.String(), now.Written.String(), finished)
		if errors.Is(err, sqldb.ErrDuplicate) {
			err = now.moved()
		}
		return err
	}
	n, err := m.On.Exec(ctx, "checkpoint", "UPDATE "+ProgressTable+" SET done_rows = ?, row_sum = ?, new_sum = ?, finished = ? WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND part = ? AND done_rows = ? AND row_sum = ? AND finished = 0", true,
		now.Rows, now.Sum.String(), now.Written.String(), finished, m.ID, StepCopy, now.World, now.Table, now.Part, before.Rows, before.Sum.String())
	if err == nil && n != 1 {
		err = now.moved()
	}
	return err
}

// Settle says whether a checkpoint was saved of which the transaction got no answer. If it is neither that nor the one
// before, another process works on the same merge.
func (m *Manifest) Settle(ctx context.Context, before, now *Checkpoint) (saved bool, err error) {
	is, err := m.Checkpoint(ctx, now.Place)
	switch {
	case err != nil:
		return false, err
	case is == *now:
		return true, nil
	case is != *before:
		return false, now.moved()
	}
	return false, nil
}

// Clear removes the checkpoints of a table, which is about to be emptied.
func (m *Manifest) Clear(ctx context.Context, table string) error {
	_, err := m.On.Exec(ctx, "clear", "DELETE FROM "+ProgressTable+" WHERE merge_id = ? AND step = ? AND tab = ?", false, m.ID, StepCopy, table)
	return err
}

// moved tells that another process saved a checkpoint.
func (c *Checkpoint) moved() error {
	return fmt.Errorf("%w: its checkpoint in table %q of %q has moved", ErrBusy, c.Table, c.World)
}
