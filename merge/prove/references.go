package prove

import (
	"cmp"

	"mergesafe/merge/evidence"
	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
)

// proveReferences compares where the references of the new database lead with where they
// led in all worlds before.
func proveReferences(p *plan.Plan, now *verdict.Rekeying) *evidence.KeyProof {
	proof := &evidence.KeyProof{Part: evidence.PartReferences, Of: "references"}
	at := make(map[string]*verdict.RekeyedColumn)
	if now != nil {
		for i := range now.Columns {
			at[now.Columns[i].Table+"."+now.Columns[i].Column] = &now.Columns[i]
		}
	}
	for i := range p.Rekey.Columns {
		c := &p.Rekey.Columns[i]
		of := p.Table(c.Table)
		if c.Key || of != nil && of.Combine != nil {
			continue // where several rows became one, each column was compared with its formula
		}
		name := c.Table + "." + c.Column
		if at[name] == nil || len(at[name].Cases) != len(c.Cases) {
			proof.NoteWrong(1, "%s could not be followed", name)
			continue
		}
		for j := range c.Cases {
			var want verdict.CaseCounts
			for k, n := range c.Cases[j].Counts {
				if of == nil || k > 0 && of.Only {
					continue // which does not come
				}
				want.Resolved, want.Dangling, want.None = want.Resolved+n.Resolved, want.Dangling+n.Dangling, want.None+n.None
			}
			have := at[name].Cases[j].Counts[0]
			proof.Checked += want.Resolved + want.Dangling + want.None
			if have != want {
				off := func(a, b int64) int64 { return max(a-b, b-a) }
				proof.NoteWrong(cmp.Or(max(off(have.Resolved, want.Resolved), off(have.Dangling, want.Dangling), off(have.None, want.None)), 1),
					"%s: %d match a row, %d match none and %d mean no row, want %d, %d and %d", name, have.Resolved, have.Dangling, have.None, want.Resolved, want.Dangling, want.None)
			}
		}
	}
	return proof
}
