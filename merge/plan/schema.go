package plan

import "mergesafe/merge/world"

// SameRows counts the rows that a world of a plan brings, and those of them in tables that a
// world of an earlier plan had exactly so.
func (p *Plan) SameRows(w int, old *Plan, other int) (same, all int64) {
	then := make(map[string]world.Content)
	for i := range old.Tables {
		if t := &old.Tables[i]; other < len(t.Worlds) {
			then[t.Name] = t.Worlds[other]
		}
	}
	for i := range p.Tables {
		now := p.Tables[i].Worlds[w]
		all += now.Rows
		if was, ok := then[p.Tables[i].Name]; ok && was.Rows == now.Rows && was.Sum == now.Sum {
			same += now.Rows
		}
	}
	return same, all
}
