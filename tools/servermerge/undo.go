package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func (s surroundings) undo(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.work(ctx, cmd)
	if err != nil {
		return err
	}
	defer j.close()
	force := cmd.Bool("force")
	log := cli.LogOf(cmd)
	at := j.now(ctx) // if it cannot be read, undo waits or says why
	tried := at != nil && at.State == merge.StateTried
	begun := "" // what is announced, and agreed to, is what is undone
	if at != nil {
		begun = at.Begun
	}
	options := merge.UndoOptions{Force: force, Begun: begun}
	var place asker
	if tried {
		log.Sayf("dropping %s, which a rehearsal made", printable.Text(j.into.Name))
	} else {
		if place, err = s.placing(ctx, cmd, j); err != nil {
			return j.unplaced(ctx, "undo", err)
		}
		options.MayPlace = place(func(ctx context.Context, r databases.Registry) error { return r.MayUndo(ctx, j.plan, j.worlds) })
		options.Placing = place(func(ctx context.Context, r databases.Registry) error {
			return r.Undone(ctx, j.plan, j.into, j.worlds, fmt.Sprintf("the merge %s was undone", j.plan.ID))
		})
		log.Sayf("undoing the merge: %s is dropped unless changes in it would be lost", printable.Text(j.into.Name))
		if at != nil {
			if unknown := report.LaterMerge(j.plan, at.State); unknown != "" {
				log.Say(unknown)
			}
		}
		if force {
			log.Say("forced: it is dropped even if it was written to")
		}
	}
	w := j.watch(log)
	if err := cli.Confirm(ctx, cmd, "This drops "+j.where()+"."); err != nil {
		w.close()
		return err
	}
	options.Options = w.working(j.options)
	undone, err := merge.Undo(ctx, j.plan, j.into, j.worlds, options)
	w.close()
	if errors.Is(err, merge.ErrNoMerge) {
		return report.Plainly(err)
	}
	o := j.outcome("undo")
	o.Undone, o.Tried = undone, tried
	o.Midway = undone != nil && undone.Began
	if o.Forced = force; force {
		o.Then.Again = o.Then.Force
	}
	if errors.Is(err, merge.ErrBusy) {
		return cli.WithHint(report.Plainly(err), j.undoAgain(ctx, o.Then.Again, begun))
	}
	if err != nil {
		return j.failed(ctx, err, o)
	}
	if place != nil {
		// It was undone, whatever is known of this.
		_ = place(func(ctx context.Context, r databases.Registry) error {
			o.Away = staysAway(ctx, r, j.worlds)
			return nil
		})(ctx)
	}
	return j.conclude(ctx, o)
}

// staysAway tells which worlds the fleet registry does not let start, such as those that were retired since they came, and why.
func staysAway(ctx context.Context, r databases.Registry, worlds []merge.Database) (away []report.Away) {
	elsewhere := r.Elsewhere(func(string) {})
	for _, d := range worlds {
		if why, err := elsewhere(ctx, d); err == nil && why != "" {
			away = append(away, report.Away{World: d.Name, Why: why})
		}
	}
	return away
}

// undoAgain says what comes next for an undo beside another process.
func (j *job) undoAgain(ctx context.Context, again, begun string) string {
	at := j.now(ctx)
	later := at != nil && begun != "" && at.Begun != "" && at.Begun != begun
	if later || at != nil && at.State.Nothing() && !at.Fenced() {
		return "The other process has undone it: there is nothing left to undo."
	}
	return "When the other process has ended, run it again: " + again
}
