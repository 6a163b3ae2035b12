package change

import (
	"context"
	"fmt"

	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Flight is what is looked at before the first write.
type Flight struct {
	*job.Run
	Model   *world.World // the first world, for the time of the call; nil if it is not as planned
	World   int          // that is looked at
	Source  *world.World // the same, open
	Reasons []plan.Refusal
}

// Refuse notes a reason that blocks the merge as long as it lasts.
func (f *Flight) Refuse(database, table, format string, args ...any) {
	f.Reasons = append(f.Reasons, plan.Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...)})
}

// Changed notes that a world is not as planned, so that only a new plan can be carried out.
func (f *Flight) Changed(database, table, format string, args ...any) {
	f.Reasons = append(f.Reasons, plan.Refusal{Source: database, Table: table, Reason: fmt.Sprintf(format, args...), Next: plan.NextPlan})
}

// Counts compares how many rows the tables of the world have with the plan: all tables, or those of which the plan has no
// row to come, since of these no row is read.
func (f *Flight) Counts(ctx context.Context, all bool) error {
	for _, t := range f.Plan.Tables {
		had := t.Worlds[f.World].Rows
		if f.Source.Table(t.Name) == nil || f.World > 0 && t.Only && !t.None || had > 0 && !all {
			continue
		}
		n, err := f.Source.Count(ctx, t.Name)
		if err != nil {
			return err
		}
		if n != had {
			f.Changed(f.Source.Name(), t.Name, "it has %s, but had %d when the plan was made", record.CountRows(n), had)
		}
	}
	return nil
}

// Proving is a proof that is made.
type Proving struct {
	*job.Run
	Proof    *evidence.Proof
	Parts    *evidence.KeyParts // nil if all keys stay
	Findings []plan.Refusal     // by which the proof fails, after those of the check
}
