package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"
)

// fates says what becomes of all rows of a merge that do not come as they are: by a plan, or by that which the merged database
// has on record. With -names it is every row of one table, read from the worlds.
func (s surroundings) fates(ctx context.Context, cmd *cliv3.Command) error {
	names, name := cmd.String("names"), cmd.String("csv")
	switch {
	case name != "" && cmd.Bool("json"):
		return cli.Usage("-csv and -json are both given: want one of them")
	case names != "" && name == "" && !cmd.Bool("json"):
		return cli.Usage("-names is for -csv and -json")
	}
	j, err := s.planned(ctx, cmd)
	if err != nil {
		return err
	}
	list := report.ListFates(func(each func(merge.Fate) error) error { return merge.EachFate(j.plan, each) })
	if names != "" {
		table, column, err := rulefile.ColumnOfNames(names)
		if err != nil {
			return err
		}
		if j, err = s.locate(cmd, j); err != nil {
			return err
		}
		j.named = cmd.StringSlice("codec")
		codecs, stop, err := j.codecs(ctx)
		if err != nil {
			return err
		}
		defer stop()
		list = func(each func(merge.Fate) error) error {
			return merge.EachFateOf(ctx, j.plan, j.worlds, table, column, codecs, each)
		}
	}
	out := cmd.Root().Writer
	switch {
	case cmd.Bool("json"):
		err = cli.WriteTo(out, "json", "-", list.JSON)
	case name == "":
		status := ""
		if j.file != "" {
			status = j.command("status")
		}
		return report.WriteFates(out, s.text(cmd), j.plan, status)
	default:
		err = cli.WriteTo(out, "csv", name, list.CSV, inputs(cmd, j.file, j.all()...)...)
		if err == nil && name != "-" { // the file has each
			fmt.Fprintf(out, "%s: %s\n", printable.Text(name), report.Fates(j.plan))
		}
	}
	if err != nil {
		return report.Plainly(err)
	}
	return nil
}

// planned is the plan that the first argument names, or that the database has on record which it names.
func (s surroundings) planned(ctx context.Context, cmd *cliv3.Command) (*job, error) {
	if s.isPlan(cmd) {
		return readTaken(cmd)
	}
	made, err := s.remembering(ctx, cmd)
	if err != nil {
		return nil, err
	}
	plan, err := recordedPlan(ctx, made)
	return &job{plan: plan}, err
}

// recordedPlan is the plan of the merge that made a database.
func recordedPlan(ctx context.Context, made merge.Database) (*merge.Plan, error) {
	plan, err := merge.RecordedPlan(ctx, made, "")
	if err == nil && plan == nil {
		err = fmt.Errorf("%s has no record of a merge: none was begun, or it was undone", printable.Text(made.Name))
	}
	if err != nil {
		return nil, report.Plainly(err)
	}
	return plan, nil
}

// isPlan reports whether the first argument is a file with a plan, and not a database.
func (s surroundings) isPlan(cmd *cliv3.Command) bool {
	arg := cmd.Args().First()
	if strings.Contains(arg, ":") || slices.Contains(databases.NewConfig(cmd.String("config"), s.env).SourceNames(), arg) {
		return false
	}
	is, err := os.Stat(arg)
	return err == nil && is.Mode().IsRegular() || strings.HasSuffix(arg, ".json") || arg == ""
}
