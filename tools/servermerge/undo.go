package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
)

func (s surroundings) undoCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "undo",
		Description: helpUndo,
		Flags:       append(workFlags(), &cliv3.BoolFlag{Name: "force"}),
		Action:      s.undo,
	}
}

func (s surroundings) undo(ctx context.Context, cmd *cliv3.Command) error {
	j, options, spare, err := s.work(cmd)
	if err != nil {
		return err
	}
	force, name := cmd.Bool("force"), "undo"
	if force {
		name += " -force" // as it has to be called again
	}
	sources, target := list(sourceNames(j.plan)), printable.Text(j.target.Name)
	fmt.Fprintf(s.stderr, "servermerge: taking %s out of %s again: up to %s in %s; the names of its own rows come back\n", sources, target,
		printable.Count(j.plan.Rows(), "row", "rows"), printable.Count(int64(len(j.plan.Tables)), "table", "tables"))
	if force {
		fmt.Fprintf(s.stderr, "servermerge: forced: rows that were changed since the merge are removed too\n")
	}
	w := s.watch(spare, j.all())
	undone, err := transfer.Undo(ctx, j.plan, j.target, j.sources, transfer.UndoOptions{Options: w.writing(options), Force: force})
	w.close()
	d := j.document("undo", done)
	d.Undone = undone
	out, asJSON := cmd.Root().Writer, cmd.Bool("json")
	if errors.Is(err, transfer.ErrNoMerge) {
		return fmt.Errorf("there is nothing to undo: %s knows nothing of this merge; it was never begun, or it was undone", target)
	}
	if err != nil {
		err = j.failed(ctx, name, err, d, out, asJSON)
		if d.Outcome == refused && !asJSON {
			for _, line := range differences(undone.Samples, undone.Changed+undone.Missing) {
				fmt.Fprintf(out, "    %s\n", line)
			}
		}
		return err
	}
	return d.print(out, asJSON, undoneText(j, undone))
}

func undoneText(j *job, u *transfer.Undone) string {
	var b strings.Builder
	sources, target := list(sourceNames(j.plan)), printable.Text(j.plan.Target.Name)
	fmt.Fprintf(&b, "DONE  %s out of %s again: %s removed", sources, target, printable.Count(u.Rows, "row was", "rows were"))
	if u.SameAsBefore {
		fmt.Fprintf(&b, "; what %s holds in these tables is exactly what it held before\n", target)
	} else {
		fmt.Fprintf(&b, "; what %s holds in these tables is not what it held before: it went on after the merge\n", target)
	}
	if u.Changed > 0 {
		fmt.Fprintf(&b, "  %s been changed since the merge; these changes are gone\n", printable.Count(u.Changed, "of them had", "of them had"))
	}
	if u.Missing > 0 {
		fmt.Fprintf(&b, "  %s gone before\n", printable.Count(u.Missing, "row was", "rows were"))
	}
	if u.Kept > 0 {
		fmt.Fprintf(&b, "  %s that the merge had renamed, and got another name since, which it keeps\n", printable.Count(u.Kept, "row", "rows"))
	}
	for _, line := range differences(u.Samples, u.Changed+u.Missing) {
		fmt.Fprintf(&b, "    %s\n", line)
	}
	fmt.Fprintf(&b, "The game servers of %s can be started again.\n", sources)
	return b.String()
}
