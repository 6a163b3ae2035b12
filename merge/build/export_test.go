package build

import (
	"context"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/world"
)

// UndoSession is the connection of an undo that has read the record.
func UndoSession(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database) (*world.Connection, error) {
	u, err := newUndo(p, into, worlds, UndoOptions{}, job.Hooks{})
	if err == nil {
		u.found, err = u.Recorded(ctx)
	}
	return u.New, err
}
