package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// onlyForm reports whether the command line has files of rules and nothing to do with them.
func onlyForm(cmd *cliv3.Command) bool {
	asks := func(flag string) bool { return !slices.Contains([]string{"rules", "config"}, flag) }
	return cmd.IsSet("rules") && cmd.NArg() == 0 && !slices.ContainsFunc(cmd.LocalFlagNames(), asks)
}

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
		columns += len(d.Plain) + len(d.Shared) + len(d.Undecided)
		references += len(d.References)
	}
	if r.Check.Rekey != nil {
		spaces = len(r.Check.Rekey.Spaces)
	}
	count := func(n int, one, many string) string { return printable.Count(int64(n), one, many) }
	files := cmd.StringSlice("rules")
	fmt.Fprintf(out, "%s: no mistakes: %s, %s of other columns, %s of keys.\n", strings.Join(slice.Map(files, printable.Text), ", "),
		count(references, "reference", "references"), count(columns, "pattern", "patterns"), count(spaces, "space", "spaces"))
	fmt.Fprintf(out, "To check them against the databases: mergecheck -rules %s WORLD WORLD\n", strings.Join(slice.Map(files, printable.Text), " -rules "))
	return nil
}
