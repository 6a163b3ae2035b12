package prove

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/transfer/change/origin"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
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
	unread, err := untouched(ctx, r)
	if err != nil {
		return found, err
	}
	var parts []plan.Part
	rows := int64(0)
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		found[i].worlds = make([]*plan.Apart, len(r.Worlds))
		parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+t.Merged().Rows
		for j := range r.Worlds {
			switch {
			case j > 0 && t.Worlds[j].Rows == 0: // it may not have the table; its rows are counted where it has
				found[i].worlds[j] = new(plan.Apart)
			case !unread(i, j):
				parts, rows = append(parts, plan.Part{Table: i, World: j}), rows+t.Worlds[j].Rows
			}
		}
	}
	r.Step(rows)
	err = readParts(ctx, r, parts, found)
	again := asPlanned(r, found)
	if err == nil {
		err = readParts(ctx, r, again, found)
	}
	return found, err
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
				w.Progress(ledger.StepVerify, on.Name, l.Table, rows)
				return w.Between(ctx)
			}
			var c plan.Apart
			switch {
			case !w.Changes.MovesIn(l):
				c.Content, err = rowio.Contents(soft, on, l, rowio.All, nil, nil, between)
			case p.World == newDatabase:
				c, err = origin.Contents(soft, on, l, origin.InNew(w.Changes, w.Plan, l), between)
			default:
				c, err = origin.Contents(soft, on, l, origin.In(w.Changes, w.Plan, l, p.World), between)
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

// untouched tells of which tables of a world the rows need not be read again, because nothing can have
// changed them since the plan read them: those of a world that this merge has fenced, and that has
// not run since.
func untouched(ctx context.Context, r *job.Run) (func(table, world int) bool, error) {
	fenced := make([]bool, len(r.Worlds))
	if r.Opts.Reread {
		return func(int, int) bool { return false }, nil
	}
	for i, w := range r.Plan.Worlds {
		if !w.Fence {
			continue
		}
		err := r.Retry(ctx, fmt.Sprintf("reading the registry of %q", w.Name), func(ctx context.Context) error {
			now, err := ledger.Servers(ctx, r.Worlds[i].Database)
			fenced[i] = err == nil && ledger.NotKept(w, now, r.Plan.ID) == ""
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return func(table, world int) bool {
		t, name := &r.Plan.Tables[table], r.Plan.Worlds[world].Name
		l := r.Layouts[t.Name]
		known := !r.Changes.MovesIn(l) || r.Changes.OnlyMoves(name, l) || len(r.Changes.Moves(name, l)) == 0
		return fenced[world] && t.Combine == nil && known
	}, nil
}

// asPlanned takes the plan's word for rows that were not read, if the rows of the new database are
// these: with their old keys, all of that world and no others. It returns the parts that have to be
// read after all.
func asPlanned(r *job.Run, found []tableRead) (parts []plan.Part) {
	for i := range found {
		t, now := &r.Plan.Tables[i], found[i].now
		for j := range r.Plan.Worlds {
			if found[i].worlds[j] != nil || now == nil {
				continue
			}
			planned := plan.Apart{Content: t.Worlds[j]}
			if now.Groups != nil {
				planned.Groups = make([]rowio.Content, len(now.Groups))
				if len(r.Changes.Moves(r.Plan.Worlds[j].Name, r.Layouts[t.Name])) == 0 { // its keys stay
					planned.Groups[0] = rowio.Content{Rows: planned.Rows, Sum: planned.After}
				} else if planned.Groups[j] = (rowio.Content{Rows: planned.Rows, Sum: planned.Sum}); now.Groups[j].Rows != planned.Rows || now.Groups[j].Sum != planned.Sum {
					parts = append(parts, plan.Part{Table: i, World: j})
					continue
				}
			}
			found[i].worlds[j] = &planned
		}
	}
	return parts
}
