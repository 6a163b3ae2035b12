package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/rekey"
	"mergesafe/merge/report"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// whois asks what a merged database remembers of a key: NEW TABLE KEY, or the other way round
// NEW WORLD TABLE KEY.
func (s surroundings) whois(ctx context.Context, cmd *cliv3.Command) error {
	args := cmd.Args().Slice()
	if cmd.IsSet("csv") {
		return s.keysCSV(ctx, cmd, args)
	}
	if cmd.Bool("view") {
		return s.keysView(ctx, cmd, args)
	}
	if len(args) != 3 && len(args) != 4 {
		return cli.Usage("got %s, want NEW TABLE KEY, or NEW WORLD TABLE KEY", arguments(cmd))
	}
	made, err := s.remembering(cmd)
	if err != nil {
		return err
	}
	table, text := args[len(args)-2], args[len(args)-1]
	key, isInteger := rekey.ParseInteger([]byte(text))
	if !isInteger && len(args) == 3 {
		return cli.Usage("the key %.40q: want an integer, or the WORLD that had it too", text)
	}
	defer cli.LogOf(cmd).Waiting(ctx, "asking "+made.Name)()
	var way []transfer.Origin
	switch {
	case len(args) == 3:
		way, err = transfer.Whois(ctx, made, table, key)
	case isInteger:
		way, err = transfer.Whereis(ctx, made, args[1], table, key)
	}
	if len(args) == 4 && len(way) == 0 && ctx.Err() == nil {
		planned, other := transfer.ByPlan(ctx, made, args[1], table, text)
		if planned != nil {
			return s.planned(cmd, planned)
		}
		if err = errors.Join(err, other); err == nil && !isInteger {
			return cli.Usage("the key %.40q: want an integer: by no merge on record rows of %q came from %q that have "+
				"other keys", text, table, args[1])
		}
	}
	if err != nil {
		return report.Plainly(err)
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		err = cli.WriteJSON(out, append([]transfer.Origin{}, way...))
	} else {
		world := ""
		if len(args) == 4 {
			world = args[1]
		}
		err = report.WriteWhois(out, s.text(cmd), made.Name, world, table, key, way)
	}
	if err == nil && len(way) == 0 {
		return cli.Conflicts
	}
	return err
}

// planned says what only a plan knows of a key.
func (s surroundings) planned(cmd *cliv3.Command, row *transfer.Planned) error {
	out := cmd.Root().Writer
	var err error
	if cmd.Bool("json") {
		err = cli.WriteJSON(out, row)
	} else {
		err = report.WritePlanned(out, s.text(cmd), row)
	}
	if err == nil && row.Why != "" {
		return cli.Conflicts
	}
	return err
}

// keysView prints the statements that make the view of the keys.
func (s surroundings) keysView(ctx context.Context, cmd *cliv3.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usage("got %s, want -view NEW", arguments(cmd))
	}
	made, err := s.remembering(cmd)
	if err != nil {
		return err
	}
	statements, err := transfer.KeysViewStatements(ctx, made)
	if err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := fmt.Fprintf(cmd.Root().Writer, "%s;\n", statement); err != nil {
			return err
		}
	}
	return nil
}

// remembering is the merged database, the first argument.
func (s surroundings) remembering(cmd *cliv3.Command) (transfer.Database, error) {
	places, err := databases.NewConfig(cmd.String("config"), s.env).Places(cmd.Args().Slice()[:1])
	if err != nil {
		return transfer.Database{}, err
	}
	return databaseAt(places[0]), nil
}

// keysCSV writes what became of all keys of a table of a world.
func (s surroundings) keysCSV(ctx context.Context, cmd *cliv3.Command, args []string) error {
	if len(args) != 3 {
		return cli.Usage("got %s, want -csv FILE NEW WORLD TABLE", arguments(cmd))
	}
	made, err := s.remembering(cmd)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		c := csv.NewWriter(w)
		if err := c.Write([]string{"source", "table", "column", "old", "new"}); err != nil {
			return err
		}
		err := transfer.EachKey(ctx, made, args[1], args[2], func(o transfer.Origin) error {
			return c.Write([]string{o.Source, o.Table, o.Column, o.Old.String(), o.New.String()})
		})
		c.Flush()
		if err != nil {
			return report.Plainly(err)
		}
		return c.Error()
	}
	name := cmd.String("csv")
	if name == "-" {
		return write(cmd.Root().Writer)
	}
	file, err := cli.NewFile("csv", name, inputs(cmd, "", made)...)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Write(write)
}
