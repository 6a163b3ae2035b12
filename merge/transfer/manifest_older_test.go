package transfer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mergesafe/merge"
)

// older gives the table of checkpoints the form that it had before there were ranges.
func older(t *testing.T, d Database) {
	t.Helper()
	if strings.HasPrefix(d.DSN, "mysql:") {
		exec(t, d, "ALTER TABLE "+ProgressTable+" DROP PRIMARY KEY, DROP COLUMN part, ADD PRIMARY KEY (merge_id, step, source, tab)")
		return
	}
	exec(t, d, "CREATE TABLE p AS SELECT merge_id, step, source, tab, last_key, done_rows, row_sum, finished FROM "+ProgressTable, "DROP TABLE "+ProgressTable,
		"CREATE TABLE "+ProgressTable+" (merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, last_key TEXT NOT NULL, done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, finished INTEGER NOT NULL, PRIMARY KEY (merge_id, step, source, tab)) WITHOUT ROWID",
		"INSERT INTO "+ProgressTable+" SELECT * FROM p", "DROP TABLE p")
}

// A merge that older code carried out, or left in the middle, is seen, resumed, verified
// and undone, and another one may follow it.
func TestMergeOfOlderCode(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 3)
		before := dump(t, all[0], KeysTable)
		p := mustPlan(t, all[0], all[1:2], keyOptions(nil))
		for i := range p.Tables { // older plans have no ranges
			for j := range p.Tables[i].Sources {
				p.Tables[i].Sources[j].Ranges = nil
			}
		}
		p.ID = p.fingerprint()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		_, err := applyWith(ctx, p, all[0], all[1:2], Options{Parallel: 1}, hooks{batch: 1, fail: func(point string) error {
			if point == "after insert" {
				cancel(stop)
			}
			return nil
		}})
		if !errors.Is(err, ErrStopped) {
			t.Fatalf("%v, want it to stop in the middle", err)
		}
		older(t, all[0])
		if s, err := LookUp(t.Context(), p, all[0], all[1:2]); err != nil || s.State != StateCopying || s.Copied() == 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := Apply(t.Context(), p, all[0], all[1:2], Options{}); err != nil {
			t.Fatal(err)
		}
		older(t, all[0])
		if proof := verified(t, p, all[0], all[1:2]); proof.Verdict != merge.Pass {
			t.Errorf("%s: %+v", proof.Verdict, proof.Tables)
		}
		next := rekeyed(t, []Database{all[0], all[2]}, keyOptions(nil))
		if _, err := Undo(t.Context(), next, all[0], all[2:], UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		older(t, all[0])
		if _, err := Undo(t.Context(), p, all[0], all[1:2], UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, all[0], KeysTable); after != before {
			t.Errorf("after the undo:\n%s, want\n%s", after, before)
		}
	})
}
