package main

import (
	"context"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

// left lists the rows that stay behind. It asks no database: the plan has them all.
func (s surroundings) left(_ context.Context, cmd *cliv3.Command) error {
	j, err := readJob(cmd)
	if err != nil {
		return err
	}
	if cmd.Args().Len() > 1 {
		return cli.Usage("got %d arguments, want the plan alone", cmd.Args().Len())
	}
	out := cmd.Root().Writer
	write := func(w io.Writer) error { return report.WriteLeftCSV(w, j.plan) }
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
