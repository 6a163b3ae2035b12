package main

import (
	"context"
	"errors"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/tools/internal/cli"
)

// explained adds to the error of a command what to do if the state of the campaign is damaged.
func explained(do cliv3.ActionFunc) cliv3.ActionFunc {
	return func(ctx context.Context, cmd *cliv3.Command) error {
		err := do(ctx, cmd)
		damaged, ok := errors.AsType[*campaign.DamagedError](err)
		if !ok {
			return err
		}
		state := printable.Quoted(damaged.State)
		moved := "mv " + state + " " + printable.Quoted(damaged.State+".damaged")
		moved += " && rm -f " + printable.Quoted(damaged.State+"-wal") + " " + printable.Quoted(damaged.State+"-shm") // SQLite would read these with another file
		return cli.WithHint(err, fmt.Sprintf("It is only a log: the plans and databases record the merges. Move it away, and find the merges that have begun: %s && %s\n"+
			"Then %s completes them. Lost are: a pause, measured times and events. Merges that were skipped or undone are planned again: skip them again.",
			moved, commandOf(cmd, "plan", damaged.Campaign), commandOf(cmd, "apply", damaged.Campaign)))
	}
}
