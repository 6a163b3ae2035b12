package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/transfer/rowio"
)

// Place is one range of the rows of one source in one table; see [rowio.Range].
type Place struct {
	Source, Table string
	Part          int
}

// Checkpoint is how far one step is in one place.
type Checkpoint struct {
	Step string
	Place
	Begin    []any // key after which the range begins; nil for the first one
	After    []any // key of the last row; at the beginning, begin
	Rows     int64
	Sum      rowio.Sum
	Finished bool
	Saved    bool // in [ProgressTable]
}

// Checkpoints returns how many rows of a step are done in each place. It is an error if those of
// any step cannot be read: a later look for one of them would find none.
func (m *Manifest) Checkpoints(ctx context.Context, step string) (map[Place]int64, error) {
	rows := make(map[Place]int64)
	const query = "SELECT source, tab, part, done_rows, step FROM " + ProgressTable + " WHERE merge_id = ?"
	err := m.On.Rows(ctx, query, false, []any{m.ID}, func(row []any) (bool, error) {
		part, err := rowio.IntIn(row[2], ProgressTable+".part")
		if err != nil {
			return false, err
		}
		n, err := rowio.IntIn(row[3], ProgressTable+".done_rows")
		if rowio.Text(row[4]) == step {
			rows[Place{rowio.Text(row[0]), rowio.Text(row[1]), int(part)}] = n
		}
		return true, err
	})
	return rows, err
}

// Progress is how far all steps of the merge are, to be compared: every batch changes it.
func (m *Manifest) Progress(ctx context.Context) (string, error) {
	var places []string
	err := m.On.Rows(ctx, "SELECT * FROM "+ProgressTable+" WHERE merge_id = ?", false, []any{m.ID}, func(row []any) (bool, error) {
		places = append(places, fmt.Sprintf("%q", row))
		return true, nil
	})
	slices.Sort(places)
	return strings.Join(places, "\n"), err
}

// Together adds up what is done of the parts of each table and source.
func Together(rows map[Place]int64) map[Place]int64 {
	all := make(map[Place]int64)
	for at, n := range rows {
		all[Place{Source: at.Source, Table: at.Table}] += n
	}
	return all
}

// Save writes a checkpoint, in the transaction that did the work. If the one
// before is not the saved one, another process works on the same merge.
func (m *Manifest) Save(ctx context.Context, before, now *Checkpoint) error {
	if err := m.HoldState(ctx, stateOf[now.Step], Shared); err != nil {
		return err
	}
	return m.Note(ctx, before, now)
}

// Note is save if the state of the merge is held already.
func (m *Manifest) Note(ctx context.Context, before, now *Checkpoint) error {
	key := ""
	if now.After != nil {
		var err error
		if key, err = rowio.EncodeKey(now.After); err != nil {
			return err
		}
	}
	finished := 0
	if now.Finished {
		finished = 1
	}
	if !before.Saved {
		_, err := m.On.Exec(ctx, "checkpoint", "INSERT INTO "+ProgressTable+" (merge_id, step, source, tab, part, last_key, done_rows, row_sum, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", true,
			m.ID, now.Step, now.Source, now.Table, now.Part, key, now.Rows, now.Sum.String(), finished)
		return err
	}
	n, err := m.On.Exec(ctx, "checkpoint", "UPDATE "+ProgressTable+" SET last_key = ?, done_rows = ?, row_sum = ?, finished = ? WHERE merge_id = ? AND step = ? AND source = ? AND tab = ? AND part = ? AND done_rows = ? AND row_sum = ? AND finished = 0", true,
		key, now.Rows, now.Sum.String(), finished, m.ID, now.Step, now.Source, now.Table, now.Part, before.Rows, before.Sum.String())
	if err == nil && n != 1 {
		err = MovedError(now)
	}
	return err
}

// A Fact is noted beside the checkpoints of a merge into a new database.
type Fact string

// FactGiven is that a game may have given IDs and numbers there, which the first world has to learn
// from an undo.
const FactGiven Fact = "given"

// FactKnown is that the first world has learnt it: from then on an undo reads no table of the new
// database, since it may have dropped some.
const FactKnown Fact = "known"

// NoteFact notes a fact, once.
func (m *Manifest) NoteFact(ctx context.Context, f Fact) error {
	known, err := m.HasFact(ctx, f)
	if err != nil || known {
		return err
	}
	return m.Note(ctx, &Checkpoint{}, &Checkpoint{Step: string(f), Finished: true})
}

// HasFact reports whether a fact was noted.
func (m *Manifest) HasFact(ctx context.Context, f Fact) (bool, error) {
	there, err := m.Tables(ctx)
	if err != nil || !slices.Contains(there, ProgressTable) { // dropped by an undo
		return false, err
	}
	n, err := m.On.Number(ctx, "SELECT COUNT(*) FROM "+ProgressTable+" WHERE merge_id = ? AND step = ?", false, m.ID, string(f))
	return n > 0, err
}

// stateOf is the state in which a merge is while a step writes.
var stateOf = map[string]State{StepCopy: StateCopying, StepOwn: StateCopying, StepRename: StateCopying, StepUndo: StateUndoing, StepRestore: StateUndoing}

// MovedError tells that another process saved a checkpoint.
func MovedError(c *Checkpoint) error {
	return fmt.Errorf("%w: its checkpoint in table %q of %q has moved", ErrBusy, c.Table, c.Source)
}
