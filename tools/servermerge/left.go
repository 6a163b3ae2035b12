package main

import (
	"context"
	"io"
	"slices"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// left lists the rows that stay behind. It asks no database: the plan has them all, but for names.
func (s surroundings) left(ctx context.Context, cmd *cliv3.Command) error {
	read := func(cmd *cliv3.Command) (*job, error) { return readJob(cmd) }
	if cmd.String("names") != "" {
		if cmd.String("csv") == "" {
			return cli.Usage("-names is for -csv")
		}
		read = s.job
	}
	j, err := read(cmd)
	if err != nil {
		return err
	}
	if cmd.Args().Len() > 1 && cmd.String("names") == "" {
		return cli.Usage("got %d arguments, want the plan alone", cmd.Args().Len())
	}
	names, err := j.leftNames(ctx, cmd.String("names"))
	if err != nil {
		return err
	}
	out := cmd.Root().Writer
	write := func(w io.Writer) error { return report.WriteLeftCSV(w, j.plan, names) }
	switch name := cmd.String("csv"); {
	case name == "-":
		return write(out)
	case name != "":
		file, err := cli.NewFile("csv", name, inputs(cmd, j.file)...)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := file.Write(write); err != nil {
			return err
		}
	}
	if cmd.Bool("json") {
		return report.WriteLeftJSON(out, j.plan)
	}
	return report.WriteLeft(out, s.text(cmd), j.plan)
}

// leftNames reads names from a column, given as table.column, in the worlds; nil if none is given.
func (j *job) leftNames(ctx context.Context, at string) (*report.LeftNames, error) {
	if at == "" {
		return nil, nil
	}
	table, column, ok := strings.Cut(at, ".")
	if !ok || !slices.ContainsFunc(j.plan.Leaving.Tables(), func(name string) bool { return name == table }) {
		return nil, cli.Usage("-names %q: want the column of names of a table of which rows stay behind, such as characters.name", at)
	}
	return &report.LeftNames{Table: table, Each: func(world string, use func(key, name, why string) error) error {
		return transfer.EachStayed(ctx, j.plan, j.into, j.worlds, j.plan.World(world), table, column, use)
	}}, nil
}
