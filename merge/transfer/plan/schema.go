package plan

import "mergesafe/merge/transfer/rowio"

// SameRows counts the rows that a source of a plan brings, and those of them in tables that a
// source of an earlier plan had exactly so.
func (p *Plan) SameRows(source int, old *Plan, other int) (same, all int64) {
	then := make(map[string]rowio.Content)
	for i := range old.Tables {
		if t := &old.Tables[i]; other < len(t.Sources) {
			then[t.Name] = t.Sources[other]
		}
	}
	for i := range p.Tables {
		now := p.Tables[i].Sources[source]
		all += now.Rows
		if was, ok := then[p.Tables[i].Name]; ok && was.Rows == now.Rows && was.Sum == now.Sum {
			same += now.Rows
		}
	}
	return same, all
}
