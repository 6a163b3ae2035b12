package prove

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/job"
	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// tableRead is what was read of one table, in the new database and in each world; nil for what was
// not read because of an error.
type tableRead struct {
	now    *plan.Apart
	worlds []*plan.Apart
}

// whole reports whether all of it was read.
func (t *tableRead) whole() bool { return t.now != nil && !slices.Contains(t.worlds, nil) }

// newDatabase stands for the number of a world if a table of the new database is to be read.
const newDatabase = -1

// readAll reads and sums up the rows of the tables of the plan.
func readAll(ctx context.Context, r *job.Run) ([]tableRead, error) {
	found := make([]tableRead, len(r.Plan.Tables))
	var parts []plan.Part
	rows := int64(0)
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		found[i].worlds = make([]*plan.Apart, len(r.Worlds))
		parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+t.Merged().Rows
		for j := range r.Worlds {
			if j > 0 && t.Worlds[j].Rows == 0 { // it may not have the table; its rows are counted where it has
				found[i].worlds[j] = new(plan.Apart)
				continue
			}
			parts, rows = append(parts, plan.Part{Table: i, World: j}), rows+t.Worlds[j].Rows
		}
	}
	r.Step(rows)
	return found, readParts(ctx, r, parts, found)
}

// readParts reads and sums up parts.
func readParts(ctx context.Context, r *job.Run, parts []plan.Part, found []tableRead) error {
	return r.InParallel(ctx, job.Reading, parts, func(ctx context.Context, w *job.Run, p plan.Part) error {
		l, on := w.Layouts[w.Plan.Tables[p.Table].Name], w.New
		if p.World != newDatabase {
			on = w.Worlds[p.World]
		}
		return w.RetryCounted(ctx, fmt.Sprintf("reading table %q of %q", l.Table, on.Name), func(soft context.Context) (err error) {
			between := func(rows int) error {
				w.Progress(record.StepVerify, on.Name, l.Table, rows)
				return w.Between(ctx)
			}
			var c plan.Apart
			switch {
			case !w.Changes.MovesIn(l):
				c.Content, err = world.Contents(soft, on, l, world.All, nil, nil, between)
			case p.World == newDatabase:
				c, err = mapping.OldContents(soft, on, l, mapping.OriginsInNew(w.Changes, w.Plan, l), between)
			default:
				c, err = mapping.OldContents(soft, on, l, mapping.OriginsIn(w.Changes, w.Plan, l, p.World), between)
			}
			if err == nil && p.World == newDatabase {
				found[p.Table].now = &c
			} else if err == nil {
				found[p.Table].worlds[p.World] = &c
			}
			return err
		})
	})
}
