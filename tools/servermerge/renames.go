package main

import (
	"context"
	"io"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

func (s surroundings) renamesCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "renames",
		Description: helpRenames,
		Flags:       []cliv3.Flag{jsonFlag(), &cliv3.StringFlag{Name: "csv"}},
		Action:      renames,
	}
}

// renamesDocument is what renames prints with -json.
type renamesDocument struct {
	Version int               `json:"version"`
	Plan    string            `json:"plan"`
	Renames []transfer.Rename `json:"renames"`
}

// renames asks no database: the plan has them all.
func renames(_ context.Context, cmd *cliv3.Command) error {
	j, err := readJob(cmd)
	if err != nil {
		return err
	}
	if cmd.Args().Len() > 1 {
		return cli.Usage("got %d arguments, want the plan alone", cmd.Args().Len())
	}
	out := cmd.Root().Writer
	switch name := cmd.String("csv"); {
	case name == "-":
		return j.plan.WriteRenames(out)
	case name != "":
		file, err := cli.NewFile("csv", name)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := file.Write(j.plan.WriteRenames); err != nil {
			return err
		}
	}
	if cmd.Bool("json") {
		return writeJSON(out, renamesDocument{documentVersion, j.plan.ID, append([]transfer.Rename{}, j.plan.Renames...)})
	}
	var b strings.Builder
	b.WriteString(printable.Count(int64(len(j.plan.Renames)), "rename", "renames") + "\n")
	writeRenames(&b, j.plan.Renames)
	_, err = io.WriteString(out, b.String())
	return err
}
