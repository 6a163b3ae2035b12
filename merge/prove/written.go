package prove

import (
	"context"
	"fmt"

	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// Written says what others than the merge wrote to the new database since it was made: how the tables of the game
// differ from what the record says of them, and what an undo would drop with them that the merge did not make. It reads
// no rows of a world, since these may do as they like. [job.Run.Know] must have been called.
//
// alone returns the only connection that can read these tables, since it has locked them, or nil. Then they are read one after
// another. It is called when the objects were compared: a view that reads a locked table cannot be looked at.
func Written(ctx context.Context, r *job.Run, alone func(ctx context.Context) (*world.Connection, error)) (written []plan.Refusal, err error) {
	lost, err := alteredObjects(ctx, r)
	if err != nil {
		return nil, err
	}
	tables := r
	if alone, err := alone(ctx); err != nil {
		return nil, err
	} else if alone != nil {
		tables = r.Over(alone)
	}
	note := func(table, what string) {
		written = append(written, plan.Refusal{Source: r.New.Name, Table: table, Reason: what})
	}
	var parts []plan.Part
	rows := int64(0)
	for i := range r.Plan.Tables {
		t := &r.Plan.Tables[i]
		if r.Layouts[t.Name] == nil && r.Manifest.Left == record.StateUndoing {
			continue // an undo that was interrupted dropped it
		}
		if what := altered(r, t); what != "" {
			note(t.Name, what)
			continue
		}
		parts, rows = append(parts, plan.Part{Table: i, World: newDatabase}), rows+t.Merged()
	}
	r.Tally.Step(rows)
	found := make([]tableRead, len(r.Plan.Tables))
	for _, p := range parts {
		found[p.Table].lower = asMade(r, &r.Plan.Tables[p.Table])
	}
	if err := readParts(ctx, tables, record.StepVerify, parts, found); err != nil {
		return nil, err
	}
	var wrote map[string]world.Sum
	err = r.Retry(ctx, "reading what the merge wrote", func(ctx context.Context) (err error) {
		wrote, err = r.Manifest.Wrote(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		t := &r.Plan.Tables[p.Table]
		sum, known := wrote[t.Name]
		if !known && t.Merged() > 0 {
			note(t.Name, record.ProgressTable+" does not have any more what the merge wrote to it, so that it is not known whether others did")
		} else if proof := compareSums(r, t, found[p.Table], sum); proof.Verdict != verdict.Pass {
			note(t.Name, writtenTo(&proof))
		}
	}
	for _, table := range r.Plan.Resets {
		if r.Keys[table] == nil {
			continue // it was dropped
		}
		var n int64
		err := tables.Retry(ctx, fmt.Sprintf("counting the rows of table %q", table), func(ctx context.Context) (err error) {
			n, err = tables.Count(ctx, table)
			return err
		})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			note(table, fmt.Sprintf("it has %s, but was empty", record.CountRows(n)))
		}
	}
	for _, what := range lost {
		note("", fmt.Sprintf("altered since it was made like %s: %s", r.Worlds[0].Name, what))
	}
	return written, nil
}

// alteredObjects names what others made or altered in the new database and an undo would drop. The plan has only
// fingerprints of the first world: if that was altered too, there is nothing to compare with.
func alteredObjects(ctx context.Context, r *job.Run) (lost []string, err error) {
	err = r.Retry(ctx, "comparing the schemas of the databases", func(ctx context.Context) error {
		was, err := world.Read(ctx, r.Worlds[0])
		if err != nil || len(was.Altered(r.Plan.New.Made)) > 0 {
			return err
		}
		was.Into(r.Plan.New.Engine)
		made, err := world.Read(ctx, r.New)
		if err == nil {
			lost = was.Lost(made)
		}
		return err
	})
	return lost, err
}

// writtenTo says what was written to a table.
func writtenTo(p *evidence.TableProof) string {
	if p.Rows == p.Want {
		return fmt.Sprintf("it has %s, as it was made, but some have changed", record.CountRows(p.Rows))
	}
	return fmt.Sprintf("it has %s, but was made with %d", record.CountRows(p.Rows), p.Want)
}
