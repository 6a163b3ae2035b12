package main

import (
	"fmt"
	"io"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// checkForm reads files of rules without any database, and says what they have.
func checkForm(cmd *cliv3.Command, env cli.Env, out io.Writer) error {
	if err := checkFlags(cmd); err != nil {
		return err
	}
	r, err := databases.NewConfig(cmd.String("config"), env).Rules(cmd)
	if err != nil {
		return err
	}
	columns, references, spaces := 0, 0, 0
	for _, d := range r.Check.Rules {
		columns += len(d.Plain) + len(d.Natural) + len(d.Shared) + len(d.Undecided)
		references += len(d.References)
	}
	if r.Check.Rekey != nil {
		spaces = len(r.Check.Rekey.Spaces)
	}
	count := func(n int, one, many string) string { return printable.Count(int64(n), one, many) }
	files := cmd.StringSlice("rules")
	fmt.Fprintf(out, "%s: written right: %s, %s of other columns, %s of keys.\n", strings.Join(slice.Map(files, printable.Text), ", "),
		count(references, "reference", "references"), count(columns, "pattern", "patterns"), count(spaces, "space", "spaces"))
	fmt.Fprintf(out, "Whether they fit the databases, only these tell: mergecheck -rules %s SOURCE SOURCE\n", strings.Join(slice.Map(files, printable.Text), " -rules "))
	return nil
}
