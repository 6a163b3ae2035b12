package plan

import "mergesafe/merge/transfer/rowio"

// SameRows counts the rows that a world of a plan brings, and those of them in tables that a
// world of an earlier plan had exactly so.
func (p *Plan) SameRows(world int, old *Plan, other int) (same, all int64) {
	then := make(map[string]rowio.Content)
	for i := range old.Tables {
		if t := &old.Tables[i]; other < len(t.Worlds) {
			then[t.Name] = t.Worlds[other]
		}
	}
	for i := range p.Tables {
		now := p.Tables[i].Worlds[world]
		all += now.Rows
		if was, ok := then[p.Tables[i].Name]; ok && was.Rows == now.Rows && was.Sum == now.Sum {
			same += now.Rows
		}
	}
	return same, all
}
