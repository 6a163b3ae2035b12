package world

import (
	"mergesafe/merge/keys"
)

// Move is a column of which values get new ones.
type Move struct {
	Column int
	Cases  []MoveCase
}

type MoveCase struct {
	Space string
	When  *keys.When
	On    int // the column of the condition
	Shift *keys.Shift
	Cells *keys.Row // where its keys are; nil: the value is the whole cell
	At    []int     // the columns of these cells
}

// About reports whether a row is of the case.
func (c *MoveCase) About(row []any) bool {
	return c.When == nil || c.On >= 0 && c.When.Holds(Printed(row[c.On]))
}
