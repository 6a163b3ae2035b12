package main

import (
	"context"
	"fmt"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
)

// renames asks no database: the plan has them all.
func (s surroundings) renames(_ context.Context, cmd *cliv3.Command) error {
	j, err := readJob(cmd)
	if err != nil {
		return err
	}
	if cmd.Args().Len() > 1 {
		return cli.Usage("got %s, want the plan alone", arguments(cmd))
	}
	all, out := report.NewRenames(j.plan), cmd.Root().Writer
	switch name := cmd.String("csv"); {
	case name == "-":
		return all.WriteCSV(out)
	case name != "":
		file, err := cli.NewFile("csv", name, inputs(cmd, j.file)...)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := file.Write(all.WriteCSV); err != nil {
			return err
		}
		if !cmd.Bool("json") { // the file has each
			fmt.Fprintf(out, "%s: %s\n", printable.Text(name), all.Amount)
			return nil
		}
	}
	if cmd.Bool("json") {
		return all.WriteJSON(out)
	}
	return all.WriteText(out, s.text(cmd))
}

// arguments counts those of a command.
func arguments(cmd *cliv3.Command) string {
	return printable.Count(int64(cmd.Args().Len()), "argument", "arguments")
}
