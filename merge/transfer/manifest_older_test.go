package transfer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
)

// older gives the table of checkpoints the form that it had before there were ranges.
func older(t *testing.T, d rowio.Database) {
	t.Helper()
	if strings.HasPrefix(d.DSN, "mysql:") {
		exec(t, d, "ALTER TABLE "+ledger.ProgressTable+" DROP PRIMARY KEY, DROP COLUMN part, ADD PRIMARY KEY (merge_id, step, source, tab)")
		return
	}
	exec(t, d, "CREATE TABLE p AS SELECT merge_id, step, source, tab, last_key, done_rows, row_sum, finished FROM "+ledger.ProgressTable, "DROP TABLE "+ledger.ProgressTable,
		"CREATE TABLE "+ledger.ProgressTable+" (merge_id TEXT NOT NULL, step TEXT NOT NULL, source TEXT NOT NULL, tab TEXT NOT NULL, last_key TEXT NOT NULL, done_rows INTEGER NOT NULL, row_sum TEXT NOT NULL, finished INTEGER NOT NULL, PRIMARY KEY (merge_id, step, source, tab)) WITHOUT ROWID",
		"INSERT INTO "+ledger.ProgressTable+" SELECT * FROM p", "DROP TABLE p")
}

// A merge that older code carried out, or left in the middle, is seen, resumed, verified
// and undone, and another one may follow it.
func TestMergeOfOlderCode(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := keyWorlds(t, e, 3)
		before := dump(t, all[0], ledger.KeysTable)
		p := mustPlan(t, all[0], all[1:2], keyOptions(nil))
		for i := range p.Tables { // older plans have no ranges
			for j := range p.Tables[i].Sources {
				p.Tables[i].Sources[j].Ranges = nil
			}
		}
		p.ID = p.Fingerprint()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		_, err := apply.ApplyWith(ctx, p, all[0], all[1:2], job.Options{Parallel: 1}, job.Hooks{Batch: 1, Fail: func(point string) error {
			if point == "after insert" {
				cancel(stop)
			}
			return nil
		}})
		if !errors.Is(err, ledger.ErrStopped) {
			t.Fatalf("%v, want it to stop in the middle", err)
		}
		older(t, all[0])
		if s, err := apply.LookUp(t.Context(), p, all[0], all[1:2]); err != nil || s.State != ledger.StateCopying || s.Copied() == 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:2], job.Options{}); err != nil {
			t.Fatal(err)
		}
		older(t, all[0])
		if proof := verified(t, p, all[0], all[1:2]); proof.Verdict != verdict.Pass {
			t.Errorf("%s: %+v", proof.Verdict, proof.Tables)
		}
		next := rekeyed(t, []rowio.Database{all[0], all[2]}, keyOptions(nil))
		if _, err := undo.Undo(t.Context(), next, all[0], all[2:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		older(t, all[0])
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:2], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, all[0], ledger.KeysTable); after != before {
			t.Errorf("after the undo:\n%s, want\n%s", after, before)
		}
	})
}
