package main

import (
	"context"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func (s surroundings) statusCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "status",
		Description: helpStatus,
		Flags:       []cliv3.Flag{databases.ConfigFlag(), jsonFlag()},
		Action:      s.status,
	}
}

func (s surroundings) status(ctx context.Context, cmd *cliv3.Command) error {
	j, err := s.job(cmd)
	if err != nil {
		return err
	}
	at, err := transfer.LookUp(ctx, j.plan, j.target, j.sources)
	if err != nil {
		return unread(ctx, err, "no status")
	}
	d := j.document("status", done)
	d.Status = at
	if at.State != transfer.StateNone && at.State != transfer.StateCopied {
		d.Outcome = stopped
	}
	return d.print(cmd.Root().Writer, cmd.Bool("json"), statusText(j, at))
}

func statusText(j *job, at *transfer.Status) string {
	var b strings.Builder
	into := merging(j.plan)
	rows := printable.Count(j.plan.Rows(), "row", "rows")
	switch at.State {
	case transfer.StateNone:
		fmt.Fprintf(&b, "NOT BEGUN  %s: the target knows nothing of it; it was not begun, or it was undone\n", into)
	case transfer.StateCopied:
		fmt.Fprintf(&b, "DONE  %s: %s came to the target; to prove it: %s\n", into, rows, j.command("verify"))
	case transfer.StateUndoing:
		fmt.Fprintf(&b, "BEING UNDONE  %s: %s of %s rows were removed again\nTo go on, unless it runs elsewhere: %s\n",
			into, printable.Number(at.Removed()), printable.Number(at.Copied()), j.command("undo"))
	default:
		fmt.Fprintf(&b, "NOT COMPLETE  %s: %s of %s were copied\nTo go on, unless it runs elsewhere: %s\nTo take it back:                    %s\n",
			into, printable.Number(at.Copied()), rows, j.command("apply"), j.command("undo"))
	}
	if at.State == transfer.StateNone {
		statusFences(&b, at)
		return b.String()
	}
	b.WriteString("\n")
	width := cli.Width("table")
	for _, t := range at.Tables {
		width = max(width, cli.Width(printable.Text(t.Table)))
	}
	fmt.Fprintf(&b, "  %s  %14s  %14s  %14s\n", cli.Pad("table", width), "planned", "copied", "removed again")
	for _, t := range at.Tables {
		fmt.Fprintf(&b, "  %s  %14s  %14s  %14s\n", cli.Pad(printable.Text(t.Table), width), printable.Number(t.Rows), printable.Number(t.Copied), printable.Number(t.Removed))
	}
	statusFences(&b, at)
	return b.String()
}

func statusFences(b *strings.Builder, at *transfer.Status) {
	if len(at.Fences) > 0 {
		b.WriteString("\n")
	}
	for _, f := range at.Fences {
		what := "is not kept from being started by this merge"
		if f.Fenced {
			what = "is kept from being started by this merge"
		}
		fmt.Fprintf(b, "  server %s of %s %s\n", f.Server, printable.Text(f.Source), what)
	}
}
