package plan

import "slices"

// Part is what one worker does at a time: the rows of one world in one table, or
// one range of them.
type Part struct {
	Table  int // of the plan
	World  int // of the plan
	Number int // of the range
}

// Comes returns the table of that name if rows of a world come to it, or nil.
func (p *Plan) Comes(world int, table string) *Table {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Name == table && (world == 0 || !t.Only) })
	if i < 0 {
		return nil
	}
	return &p.Tables[i]
}
