package job

import "mergesafe/merge/transfer/change"

func (r *Run) Combiner(table int) *change.Combiner {
	t := &r.Plan.Tables[table]
	return change.NewCombiner(r.Plan, t, r.Changes, r.Sources, r.Layouts[t.Name])
}
