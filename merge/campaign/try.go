package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"

	"mergesafe/merge"
	"mergesafe/merge/report"
)

// tryAll makes the new databases of merges that have a plan and have not begun, from worlds that may run:
// see [merge.Options.Try]. No world is fenced, hooks are asked about room only, and windows of time do
// not count. How long each took is its prediction from then on. What was made is there until it is undone.
func tryAll(ctx context.Context, r *runner, jobs []*job) error {
	tried := false
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		rec := r.recordOf(j)
		if rec.Phase.IsTry() { // or not any more
			begunState(ctx, r, j, rec)
			rec = r.recordOf(j)
		}
		tried = tried || rec.Phase == Tried
		leftOut := rec.Phase == Skipped || rec.Phase == Undone
		return rec.Phase == Tried || rec.begun() && !rec.Phase.IsTry() || leftOut && !j.named
	})
	if len(jobs) == 0 && !tried {
		return errors.New("campaign: there is nothing to try: every merge has begun, or was skipped or undone")
	}
	ready, err := lookAll(ctx, r, jobs)
	if err != nil {
		return err
	}
	r.schedule(ctx, ready, applyOne)
	return nil
}

// tried records what a rehearsal found.
func (t *attempt) tried(plan *merge.Plan, result *merge.Result) ending {
	took := t.r.book.now().Sub(t.began).Seconds()
	text := fmt.Sprintf("%s is made by a rehearsal, with %s", plan.New.Name, printable.Count(result.Rows, "row", "rows"))
	if t.whole {
		text += ", in " + printable.Seconds(took)
	}
	changed := slice.Map(result.Changed, func(c merge.Changed) Changed {
		return Changed{World: c.World, Table: c.Table, Rows: c.Rows, Want: c.Want}
	})
	if n := len(changed); n > 0 {
		text += fmt.Sprintf("; %s since the plan: %s", printable.Count(int64(n), "table was changed", "tables were changed"),
			printable.List(slice.Map(changed, changedText), "; ", 5))
	}
	for _, note := range result.Notes {
		t.r.opts.Warn(printable.Text(t.job.Name() + ": " + note))
	}
	o := t.r.outcome("apply", plan, t.began, nil)
	o.Applied = &report.Applied{
		Rows: result.Rows, Renames: result.Renames, Resumed: result.Resumed, RowsNow: result.Wrote, Notes: result.Notes,
		Try: true, Changed: result.Changed,
	}
	reports := t.r.report(t.job, o, "try")
	t.r.update(t.job.Merge, KindTried, printable.Text(text), func(rec *record) {
		rec.rest(Tried, "", nil, reports)
		rec.Changed, rec.Copied = changed, result.Rows
		if t.whole {
			rec.Tried, rec.TriedWeight = took, workOf(plan).applyWeight().Seconds()
		}
	})
	return done
}

func changedText(c Changed) string {
	return fmt.Sprintf("%s of %s has %s, planned %s", c.Table, c.World, printable.Count(c.Rows, "row", "rows"), printable.Number(c.Want))
}

// dropped is what is left of a rehearsal that was undone: its plan, if that still holds.
func (r *record) dropped() {
	r.rest(Planned, "", nil, nil)
	if len(r.Changed) > 0 {
		r.Phase, r.Plan = Waiting, ""
	}
	r.Changed, r.Copied = nil, 0
}
