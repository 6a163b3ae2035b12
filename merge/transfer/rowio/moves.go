package rowio

import (
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// Move is a column of which values get new ones.
type Move struct {
	Column int
	Cases  []MoveCase
}

type MoveCase struct {
	Space string
	When  *rekey.When
	On    int // the column of the condition
	Shift *rekey.Shift
	Cells *cell.Row // where its keys are; nil: the value is the whole cell
	At    []int     // the columns of these cells
}

// About reports whether a row is of the case.
func (c *MoveCase) About(row []any) bool {
	return c.When == nil || c.On >= 0 && c.When.Holds(Printed(row[c.On]))
}
