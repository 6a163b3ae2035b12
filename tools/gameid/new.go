package main

import (
	"context"
	"fmt"
	"io"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/gameid/gameidtest"
	"mergesafe/tools/internal/cli"
)

func newCommand() *ucli.Command {
	return &ucli.Command{
		Name: "new",
		Description: `
Usage: gameid new -server SERVER [-n COUNT] [-json]

Generates IDs for tests, one on each line. They are not reserved in any
registry: a process that runs as the same server may mint the same IDs. Do not
store them.

Flags:
  -server SERVER   the server in the IDs, a number from 1 to 1048575
  -n COUNT         how many (default 1)
  -json            print a JSON array instead

Examples:
  gameid new -server 7
  gameid new -server 7 -n 3 | xargs gameid inspect`,
		Flags: []ucli.Flag{
			&ucli.StringFlag{Name: "server"},
			&ucli.IntFlag{Name: "n", Value: 1},
			cli.JSONFlag(),
		},
		Action: func(ctx context.Context, cmd *ucli.Command) error {
			if _, err := noArguments(cmd); err != nil {
				return err
			}
			server, err := serverFlag(cmd)
			if err != nil {
				return err
			}
			n := cmd.Int("n")
			if n < 1 {
				return cli.Usage("-n is %d: want 1 or more", n)
			}
			cli.LogOf(cmd).Say("these IDs are for tests only and not reserved: do not store them")
			return mint(ctx, cmd.Root().Writer, server, n, cmd.Bool("json"))
		},
	}
}

// sample is the kind of the IDs: none that a game has.
type sample struct{}

// mint writes n new IDs in batches, so that memory does not grow with n.
func mint(ctx context.Context, w io.Writer, server gameid.ServerID, n int, asJSON bool) (err error) {
	node, err := gameid.OpenNode(ctx, server, gameidtest.NewMemory(), gameid.Options{})
	if err != nil {
		return err
	}
	defer node.Close()
	generator := gameid.NewGenerator[sample](node)

	format, separator, end := "%s", "\n", "\n"
	if asJSON {
		format, separator, end = "  %q", ",\n", "\n]\n"
		fmt.Fprintln(w, "[")
	}
	batch := make([]gameid.Of[sample], 1024)
	for done := 0; done < n; {
		batch = batch[:min(n-done, len(batch))]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := generator.Fill(batch); err != nil {
			return err
		}
		for _, id := range batch {
			if done > 0 {
				io.WriteString(w, separator)
			}
			if _, err := fmt.Fprintf(w, format, id.String()); err != nil {
				return err
			}
			done++
		}
	}
	_, err = io.WriteString(w, end)
	return err
}
