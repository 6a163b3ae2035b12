package main

import (
	"context"
	"errors"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// whois says what became of all rows of a merge (PLAN or NEW alone), of a key (NEW TABLE KEY), or the other way round
// (NEW WORLD TABLE KEY), by the plan or by what the merged database remembers.
func (s surroundings) whois(ctx context.Context, cmd *cliv3.Command) error {
	args := cmd.Args().Slice()
	switch {
	case len(args) < 2 || cmd.IsSet("names"):
		return s.fates(ctx, cmd)
	case cmd.IsSet("csv"):
		return s.keysCSV(ctx, cmd, args)
	case len(args) != 3 && len(args) != 4:
		return cli.Usage("got %s, want PLAN or NEW alone, NEW TABLE KEY, or NEW WORLD TABLE KEY", printable.Count(int64(len(args)), "argument", "arguments"))
	}
	made, err := s.remembering(cmd)
	if err != nil {
		return err
	}
	table, text := args[len(args)-2], args[len(args)-1]
	key, isInteger := keys.ParseInteger([]byte(text))
	if !isInteger && len(args) == 3 {
		return cli.Usage("the key %.40q: want an integer, or the WORLD that had it too", text)
	}
	defer cli.LogOf(cmd).Waiting(ctx, "asking "+made.Name)()
	var way []merge.Origin
	switch {
	case len(args) == 3:
		way, err = merge.Whois(ctx, made, table, key)
	case isInteger:
		way, err = merge.Whereis(ctx, made, args[1], table, key)
	}
	if len(args) == 4 && len(way) == 0 && ctx.Err() == nil {
		planned, other := merge.ByPlan(ctx, made, args[1], table, text)
		if planned != nil {
			return s.byPlan(cmd, planned)
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
		err = cli.WriteJSON(out, append([]merge.Origin{}, way...))
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

// byPlan says what only a plan knows of a key.
func (s surroundings) byPlan(cmd *cliv3.Command, row *merge.Planned) error {
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

// remembering is the merged database, the first argument, or that of the plan which it names.
func (s surroundings) remembering(cmd *cliv3.Command) (merge.Database, error) {
	name := cmd.Args().First()
	if s.isPlan(cmd) {
		j, err := readJob(cmd)
		if err != nil {
			return merge.Database{}, err
		}
		if name = j.plan.New.Name; !findable(name) {
			return merge.Database{}, cli.Usage("the plan was made for %q, which was given by DSN: give that database instead of the plan", name)
		}
	}
	places, err := databases.NewConfig(cmd.String("config"), s.env).Places([]string{name})
	if err != nil {
		return merge.Database{}, err
	}
	return databaseAt(places[0]), nil
}

// keysCSV writes what became of all keys of a table of a world.
func (s surroundings) keysCSV(ctx context.Context, cmd *cliv3.Command, args []string) error {
	if len(args) != 3 {
		return cli.Usage("got %d arguments, want -csv FILE and PLAN or NEW alone, or NEW WORLD TABLE", len(args))
	}
	made, err := s.remembering(cmd)
	if err != nil {
		return err
	}
	list := report.ListFates(func(each func(merge.Fate) error) error {
		err := merge.EachKey(ctx, made, args[1], args[2], func(o merge.Origin) error {
			return each(merge.Fate{OldWorld: o.Source, NewWorld: made.Name, Table: o.Table, OldKey: o.Old.String(), NewKey: o.New.String()})
		})
		if err != nil {
			return report.Plainly(err)
		}
		return nil
	})
	return cli.WriteTo(cmd.Root().Writer, "csv", cmd.String("csv"), list.CSV, inputs(cmd, "", made)...)
}
