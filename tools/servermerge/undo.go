package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/htmlreport"
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
	defer j.page.Close()
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
	undone, err := transfer.Undo(ctx, j.plan, j.target, j.sources, transfer.UndoOptions{Options: w.working(options), Force: force})
	w.close()
	if errors.Is(err, transfer.ErrNoMerge) {
		return fmt.Errorf("there is nothing to undo: %s knows nothing of this merge; it was never begun, or it was undone", target)
	}
	d, m := j.document("undo", done), &htmlreport.Merge{Command: name}
	d.Undone = undone
	if undone != nil {
		m.Samples = differences(undone.Samples, undone.Changed+undone.Missing)
	}
	if err != nil {
		return j.failed(ctx, err, d, m)
	}
	sayUndone(m, sources, target, undone)
	return j.conclude(ctx, d, m, "")
}

// sayUndone says what became of the databases.
func sayUndone(m *htmlreport.Merge, sources, target string, u *transfer.Undone) {
	m.Outcome = "DONE"
	m.Sentence = fmt.Sprintf("%s out of %s again: %s removed; what %s holds in these tables is ", sources, target, printable.Count(u.Rows, "row was", "rows were"), target)
	if u.SameAsBefore {
		m.Sentence += "exactly what it held before"
	} else {
		m.Sentence += "not what it held before: it went on after the merge"
	}
	add := func(n int64, one, many, rest string) {
		if n > 0 {
			m.Details = append(m.Details, printable.Count(n, one, many)+" "+rest)
		}
	}
	add(u.Changed, "of them had", "of them had", "been changed since the merge; these changes are gone")
	add(u.Missing, "row was", "rows were", "gone before")
	add(u.Kept, "row", "rows", "that the merge had renamed, and got another name since, which it keeps")
	m.Next = []htmlreport.Step{{Text: fmt.Sprintf("The game servers of %s can be started again.", sources)}}
}
