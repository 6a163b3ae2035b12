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
)

// recordedPlan gets a plan back of which the file is lost: a merge that has begun needs it to be
// completed, proved and undone, and the new database has it on record.
func (s surroundings) recordedPlan(ctx context.Context, cmd *cliv3.Command) error {
	name := cmd.String("o")
	if cmd.NArg() != 1 || name == "" {
		return cli.Usage("-recorded: want -o FILE and the new database alone")
	}
	made, err := s.remembering(ctx, cmd)
	if err != nil {
		return err
	}
	file, err := newPlanFile(cmd, made)
	if err != nil {
		return err
	}
	plan, err := merge.RecordedPlan(ctx, made, "")
	if err == nil && plan == nil {
		err = fmt.Errorf("%s has no record of a merge: none was begun, or it was undone", printable.Text(made.Name))
	}
	if errors.Is(err, merge.ErrPartOfPlan) {
		return cli.WithHint(report.Plainly(err), "Restore the file, or drop the new database: then \"servermerge plan\" makes the same plan again, if the worlds have not changed, and undo lifts their fences.")
	}
	if err != nil {
		return unread(ctx, err, "no plan")
	}
	if err := file.Write(plan.Write); err != nil {
		return err
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		return plan.Write(out)
	}
	_, err = fmt.Fprintf(out, "The plan %s, %s, is in %s. To see the state of the merge: %s\n", plan.ID, report.Merging(plan), printable.Text(name), call{file: name, config: givenConfig(cmd)}.command("status"))
	return err
}
