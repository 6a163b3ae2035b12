package step

import (
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Flight is what is looked at before the first write.
type Flight struct {
	*job.Run
	Begun    bool          // an earlier call began to copy
	Model    *rowio.Source // the target, for the time of the call; nil if it is not as planned
	Database int           // that is looked at: the target is 0
	Source   *rowio.Source // the same, open
	Reasons  []plan.Refusal
}

// Refuse notes a reason that blocks the merge.
func (f *Flight) Refuse(database, table, format string, args ...any) {
	f.Reasons = append(f.Reasons, plan.Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// RowsCome reports whether the database is a target that rows come to: a first world stays as it is.
func (f *Flight) RowsCome() bool { return f.Database == 0 && f.First == nil }

// Proving is a proof that is made.
type Proving struct {
	*job.Run
	Proof    *evidence.Proof
	Parts    *evidence.KeyParts // nil if all keys stay
	Findings []plan.Refusal     // by which the proof fails, after those of the check
}

// Undoing is an undo.
type Undoing struct {
	*job.Run
	Force   bool           // rows that were changed since are removed, too
	Reasons []plan.Refusal // that block it
}

// Refuse notes a reason that blocks the undo.
func (u *Undoing) Refuse(table, format string, args ...any) {
	u.Reasons = append(u.Reasons, plan.Refusal{Source: u.Target.Name, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// KeptBefore refuses a target that has a table where one is to be made that keeps rows.
func (f *Flight) KeptBefore(there []string, table, kept string) {
	if !f.Begun && slices.Contains(there, kept) {
		f.Refuse(f.Target.Name, table, "there is a table %q already, and the merge needs that name to keep rows: drop it if no merge needs it, or rename it", kept)
	}
}

// KeptIsGone refuses an undo because a table of the merge with old rows was dropped.
func (u *Undoing) KeptIsGone(table, kept string, rows int64) {
	u.Refuse(table, "the table %s is missing: it kept %s of %s from before the merge, so undo cannot put them back; "+
		"restore this database from its backup of before the merge, then run undo again: it says how to lift the fences of the sources", kept, printable.Count(rows, "row", "rows"), table)
}
