package build

import (
	"context"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
)

// Resuming has one rule: a table of which all places are finished stays, and every other one is emptied and
// filled again. Within a process a connection that was lost is no end: its worker goes on where it was.

// comes reports whether rows of a world come to a table. The first world always has the table.
func comes(t *plan.Table, world int) bool { return world == 0 || t.Worlds[world].Rows > 0 }

// partsOf are the places of a table: the ranges of each world if they are filled side by side, or the whole world. In
// a rehearsal worlds are whole: the ranges of the plan are not those of rows that were changed since.
func partsOf(r *job.Run, table int) (all []plan.Part) {
	t := &r.Plan.Tables[table]
	for world := range t.Worlds {
		if !comes(t, world) {
			continue
		}
		n := len(t.Worlds[world].Parts())
		if r.Opts.Try || t.Combine != nil || len(t.Key) == 0 {
			n = 1
		}
		for k := range n {
			all = append(all, plan.Part{Table: table, World: world, Number: k})
		}
	}
	return all
}

// refill empties the tables that an earlier process began to fill, and returns those that it finished.
func refill(ctx context.Context, r *job.Run) (filled map[string]bool, err error) {
	filled = make(map[string]bool)
	done, err := r.Manifest.Checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	begun := make(map[string]bool)
	for at := range done {
		begun[at.Table] = true
	}
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		finished := true
		for _, p := range partsOf(r, i) {
			finished = finished && done[refillPlace(r, p)].Finished
		}
		if finished {
			filled[t.Name] = true
			for _, p := range partsOf(r, i) {
				c := done[refillPlace(r, p)]
				r.Tally.Filled(&c)
			}
			continue
		}
		if !begun[t.Name] { // or emptied, by a process that was killed in between
			n, err := r.New.Number(ctx, "SELECT COUNT(*) FROM (SELECT 1 FROM "+r.New.Dialect().Quote(t.Name)+" LIMIT 1) AS one", false)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				continue
			}
		}
		if err := empty(ctx, r, t.Name); err != nil {
			return nil, err
		}
	}
	return filled, nil
}

func refillPlace(r *job.Run, p plan.Part) record.Place {
	return record.Place{World: r.Plan.Worlds[p.World].Name, Table: r.Plan.Tables[p.Table].Name, Part: p.Number}
}

// empty removes all rows of a table, while no other process writes there.
func empty(ctx context.Context, r *job.Run, table string) error {
	statement := "DELETE FROM "
	if r.New.Dialect().MySQL() {
		statement = "TRUNCATE TABLE "
	}
	return r.During(ctx, r.Manifest.Working(), func() error {
		if err := r.Manifest.Clear(ctx, table); err != nil {
			return err
		}
		_, err := r.New.Exec(ctx, "empty", statement+r.New.Dialect().Quote(table), false)
		return err
	})
}
