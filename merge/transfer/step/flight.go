package step

import (
	"fmt"

	"mergesafe/merge/transfer/evidence"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Flight is what is looked at before the first write.
type Flight struct {
	*job.Run
	Then    string        // what to do if a world is not as planned
	Model   *rowio.Source // the first world, for the time of the call; nil if it is not as planned
	World   int           // that is looked at
	Source  *rowio.Source // the same, open
	Reasons []plan.Refusal
}

// Refuse notes a reason that blocks the merge.
func (f *Flight) Refuse(database, table, format string, args ...any) {
	f.Reasons = append(f.Reasons, plan.Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// Changed notes that a world is not as planned.
func (f *Flight) Changed(database, table, format string, args ...any) {
	f.Refuse(database, table, "%s: %s", fmt.Sprintf(format, args...), f.Then)
}

// Proving is a proof that is made.
type Proving struct {
	*job.Run
	Proof    *evidence.Proof
	Parts    *evidence.KeyParts // nil if all keys stay
	Findings []plan.Refusal     // by which the proof fails, after those of the check
}
