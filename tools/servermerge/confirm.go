package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

// unconfirmed ends a command that asked, and was not told to go on.
func unconfirmed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("nothing was changed")
	}
	return err
}

// dryRunFlag is there to be answered: see noDryRun.
func dryRunFlag() cliv3.Flag { return &cliv3.BoolFlag{Name: "dry-run", Hidden: true, Local: true} }

// noDryRun says what is the dry run of a command that writes.
func noDryRun(cmd *cliv3.Command) error {
	if !cmd.Bool("dry-run") {
		return nil
	}
	if cmd.Name == "undo" {
		err := errors.New("-dry-run: undo has none; before it drops a database that was open it checks that nothing was written there, and otherwise refuses")
		return cli.WithHint(err, "For the state of the merge, read-only: servermerge status "+printable.Quoted(cmd.Args().First()))
	}
	j, err := readJob(cmd)
	if err != nil {
		return err
	}
	words := []string{"servermerge plan"}
	if j.config != "" {
		words = append(words, "-config", printable.Quoted(j.config))
	}
	for i, name := range j.plan.Databases() {
		switch {
		case i == 0 && findable(name):
			words = append(words, "-into", printable.Quoted(name))
		case i == 0: // given by DSN
			words = append(words, "-into", "NEW")
		case findable(name):
			words = append(words, printable.Quoted(name))
		default:
			words = append(words, "WORLD")
		}
	}
	return cli.WithHint(fmt.Errorf("-dry-run: the plan is the dry run: it lists everything that apply does, and making it only read"),
		"To see it again, with the flags that it was made with: "+strings.Join(words, " "))
}
